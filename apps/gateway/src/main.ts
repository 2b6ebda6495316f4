import { setTimeout as delay } from 'node:timers/promises';
// The gateway imports by subpath: it must load neither Nest nor TypeORM.
import { followOperatorFile, loadConfigOrExit, quotasOf } from '@slipway/platform-config/load';
import { ProcessLife } from '@slipway/platform-config/process-life';
import { listenFault, makeHome, StartupError } from '@slipway/platform-config/startup';
import { reachPostgres } from '@slipway/platform-database/reach';
import { createLogger } from '@slipway/platform-observability/logger';
import { startProbeServer } from '@slipway/platform-observability/probe-server';
import { guardedDispatcher } from '@slipway/platform-egress';
import { ForeignKeyError, Gateway, unfitSchema } from '@slipway/gateway';

const FIRST_LOOK_MS = 500;

const config = loadConfigOrExit({ process: 'gateway' });
const log = createLogger({ service: 'gateway', level: config.logLevel });
const life = new ProcessLife({
  name: 'gateway',
  logLevel: config.logLevel,
  log: { info: (line) => log.info(line), error: (line) => log.error(line) },
});
followOperatorFile(config, { log: (message) => log.info(message), error: (message) => log.error(message) });

const limitsByTenant = new Map<string, { requestsPerMinute: number; maxConcurrency: number }>();
config.operator.follow(() => () => limitsByTenant.clear());
try {
  makeHome(config.home);
} catch (error) {
  life.refuse(error);
}

const { limits, hold, drainSeconds, passedHeaders, corsOrigins } = config.gateway;
const gateway = new Gateway({
  databaseUrl: config.database.gatewayUrl,
  home: config.home,
  host: config.host,
  port: config.gatewayPort,
  keyRing: config.keyRing,
  metricsToken: config.metricsToken,
  trustedProxies: config.trustedProxies,
  operatorFile: () => config.operator.state,
  settings: { ...limits, hold, drainMs: drainSeconds * 1_000, passedHeaders, corsOrigins, limitsOfTenant },
  guardedDispatcher: (allow, { isSupplier, ...options }) => {
    const { ownPorts, outboundProxy: proxy } = config;
    return guardedDispatcher(allow, { ...options, ownPorts, ...(isSupplier && { proxy }) });
  },
  log,
});

/**
 * A rate of 0 means no limit. The result is read at each request, so it is cached until the operator's file changes.
 */
function limitsOfTenant(tenantName: string): { requestsPerMinute: number; maxConcurrency: number } {
  const known = limitsByTenant.get(tenantName);
  if (known) return known;
  const quotas = quotasOf(config, tenantName);
  const limits = {
    requestsPerMinute: quotas.inference_requests_per_minute,
    maxConcurrency: quotas.inference_concurrency,
  };
  limitsByTenant.set(tenantName, limits);
  return limits;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

life.closesWith(() => gateway.close());

const unfit = await unfitSchema(config.database.gatewayUrl);
if (unfit) life.refuse(new StartupError(unfit));

const served = new AbortController();
try {
  // This runs concurrently with the start: with a snapshot of an earlier run, the gateway serves while
  // Postgres is away, and then it waits for nothing.
  const { database, env } = config;
  const reached = reachPostgres(database, {
    login: 'gatewayUrl',
    isPatient: env === 'production',
    say: (line) => log.warn(line),
    signal: served.signal,
  });
  const refused = new Promise<never>((_, reject) => reached.catch(reject));
  // If Postgres refuses, report that before the gateway's own attempts fill the log.
  await Promise.race([reached, delay(FIRST_LOOK_MS)]);
  await Promise.race([gateway.start(), refused]);
} catch (error) {
  life.refuse(startupError(error));
}
served.abort();
if (config.metricsPort !== undefined) await serveMetrics(config.metricsPort);
life.ready();

function startupError(error: unknown): unknown {
  if (error instanceof ForeignKeyError) return new StartupError(error.message);
  const asked = { host: config.host, port: config.gatewayPort, variable: 'SLIPWAY_GATEWAY_PORT' };
  return listenFault(error, asked) ?? error;
}

async function serveMetrics(port: number): Promise<void> {
  const probes = {
    port,
    host: config.host,
    ready: isReady,
    metricsToken: config.metricsToken,
    render: async () => ({ contentType: METRICS_TYPE, body: gateway.metrics() }),
  };
  // Processes of one machine share the setting; the first one gets the port.
  await startProbeServer(probes).catch((error: Error) =>
    log.warn({ port, error: error.message }, 'cannot serve metrics on the metrics port'),
  );
}

async function isReady(): Promise<void> {
  if (!gateway.isReady) throw new Error('the gateway is not ready');
}
