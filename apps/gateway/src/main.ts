// The gateway takes what it needs by subpaths: it must load neither Nest nor TypeORM.
import { createServer } from 'node:http';
import { loadConfigOrExit } from '@slipway/platform-config/load';
import { openSecret } from '@slipway/platform-database/secret-box';
import { createLogger } from '@slipway/platform-observability/logger';
import { guardedDispatcher } from '@slipway/platform-egress';
import { Gateway } from '@slipway/gateway';

const config = loadConfigOrExit();
const log = createLogger({ service: 'gateway', level: config.logLevel });

const gateway = new Gateway({
  databaseUrl: config.database.url,
  home: config.home,
  host: config.host,
  port: config.gatewayPort,
  secretKey: config.secretKey,
  metricsToken: config.metricsToken,
  settings: config.gateway.limits,
  openSecret: (sealed) => openSecret(config.secretKey, sealed),
  guardedDispatcher,
  log,
});

let isStopping = false;
async function stop(reason: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  log.info({ reason }, 'gateway drains');
  await gateway.close();
  process.exit(0);
}

process.on('SIGTERM', () => void stop('SIGTERM'));
process.on('SIGINT', () => void stop('SIGINT'));
// The launcher is gone, however it went: nobody would ever stop this process.
process.on('disconnect', () => void stop('the launcher is gone'));

try {
  await gateway.start();
} catch (error) {
  log.fatal({ error: error instanceof Error ? error.message : String(error) }, 'the gateway cannot start');
  process.exit(1);
}
if (config.metricsPort) serveMetrics(config.metricsPort);
process.send?.('slipway:ready');

/** A port of its own needs no token: it is meant for a network that clients cannot reach. */
function serveMetrics(port: number): void {
  const server = createServer((request, response) => {
    const isMetrics = request.method === 'GET' && request.url === '/metrics';
    response.writeHead(isMetrics ? 200 : 404, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(isMetrics ? gateway.metrics() : '');
  });
  // Processes of one machine share the setting; the first one has the port.
  server.on('error', (error) => log.warn({ port, error: error.message }, 'metrics have no port of their own'));
  server.listen(port, config.host);
}
