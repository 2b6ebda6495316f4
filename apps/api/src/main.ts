import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import {
  cannotStart,
  followOperatorFile,
  listenFault,
  loadConfigOrExit,
  loadKinds,
  makeHome,
} from '@slipway/platform-config';
import { reachPostgres, requireFit } from '@slipway/platform-database';
import { createLogger, NestLogger, startProcessMetrics } from '@slipway/platform-observability';
import { MIGRATIONS, SEALED } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { createApi } from './create-api.js';

/** Requests and event streams that are still open this long after the signal are cut. */
const DRAIN_MS = 10_000;
const IDLE_LOOK_MS = 100;

await loadKinds(TARGETS);
const config = loadConfigOrExit({ targets: TARGETS });
const logger = new NestLogger(createLogger({ service: 'api', level: config.logLevel }));
Logger.overrideLogger(logger);
startProcessMetrics('api');
followOperatorFile(config, new Logger('config'));

const app = await prepare().catch((error: unknown) => cannotStart('api', error, config.logLevel));

let stopping: Promise<void> | undefined;
const stop = (why: string): void => {
  stopping ??= drain(why);
};
// `on`, not `once`: a terminal and a launcher may both send the signal, and the second one must not kill what drains.
process.on('SIGTERM', () => stop('SIGTERM'));
process.on('SIGINT', () => stop('SIGINT'));
// The launcher is gone: nobody would ever stop this process.
process.once('disconnect', () => stop('the launcher is gone'));

await app.listen(config.apiPort, config.host).catch((error: unknown) => {
  const asked = { host: config.host, port: config.apiPort, variable: 'SLIPWAY_API_PORT' };
  cannotStart('api', listenFault(error, asked) ?? error, config.logLevel);
});
const { port } = app.getHttpServer().address() as AddressInfo;
logger.log(`listening on ${config.host}:${port}`, 'api');
process.send?.('slipway:ready');

async function prepare(): ReturnType<typeof createApi> {
  if (config.upload.workspaceStore.startsWith('file:')) makeHome(config.home);
  await reachPostgres(config.database, {
    isPatient: config.env === 'production',
    say: (line) => logger.warn(line, 'api'),
    check: () => requireFit(config, MIGRATIONS, SEALED),
  });
  return createApi(config, { logger });
}

async function drain(why: string): Promise<void> {
  logger.log(`stopping: ${why}`, 'api');
  const cut = setTimeout(() => app.getHttpServer().closeAllConnections(), DRAIN_MS);
  cut.unref();
  // A connection whose last answer was on its way at the signal stays open for a next request, which nobody would answer.
  const idle = setInterval(() => app.getHttpServer().closeIdleConnections(), IDLE_LOOK_MS);
  idle.unref();
  try {
    await app.close();
    process.exit(0);
  } catch (failure) {
    logger.error(`stopping failed: ${String(failure)}`, 'api');
    process.exit(1);
  }
}
