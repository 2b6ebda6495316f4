import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { followOperatorFile, loadConfigOrExit, loadKinds, makeHome } from '@slipway/platform-config';
import { ProcessLife } from '@slipway/platform-config/process-life';
import { reachPostgres, requireFit } from '@slipway/platform-database';
import type { SlipwayHttpAdapter } from '@slipway/platform-http';
import { createLogger, NestLogger, startProcessMetrics } from '@slipway/platform-observability';
import { MIGRATIONS, SEALED } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { createApi } from './create-api.js';

/** Requests and event streams that are still open this long after the signal are cut. */
const DRAIN_MS = 10_000;
const IDLE_CHECK_MS = 100;
const LAST_REQUESTS_MS = 500;

await loadKinds(TARGETS);
const config = loadConfigOrExit({ process: 'api', targets: TARGETS });
const { host, logLevel } = config;
const logger = new NestLogger(createLogger({ service: 'api', level: logLevel }));
Logger.overrideLogger(logger);
startProcessMetrics('api');
followOperatorFile(config, new Logger('config'));
const life = new ProcessLife({
  name: 'api',
  logLevel,
  log: { info: (line) => logger.log(line, 'api'), error: (line) => logger.error(line, 'api') },
});

const app = await prepare().catch(life.refuse);
life.closesWith(drain);
await life.listen({ host, port: config.apiPort, variable: 'SLIPWAY_API_PORT' }, () => app.listen(config.apiPort, host));
const { port } = app.getHttpServer().address() as AddressInfo;
logger.log(`listening on ${host}:${port}`, 'api');
life.ready();

async function prepare(): ReturnType<typeof createApi> {
  if (config.upload.workspaceStore.startsWith('file:')) makeHome(config.home);
  await reachPostgres(config.database, {
    isPatient: config.env === 'production',
    say: (line) => logger.warn(line, 'api'),
    check: () => requireFit(config, MIGRATIONS, SEALED),
  });
  return createApi(config, { logger });
}

async function drain(): Promise<void> {
  const server = app.getHttpServer();
  setTimeout(() => server.closeAllConnections(), DRAIN_MS).unref();
  // Most connections end with an answer in this time, so that few are left to close when a request may be on its way.
  (app.getHttpAdapter() as unknown as SlipwayHttpAdapter).endConnections();
  await delay(LAST_REQUESTS_MS);
  // A connection that was sending its last answer at the signal stays open for a
  // next request, which nothing would answer.
  setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS).unref();
  await app.close();
}
