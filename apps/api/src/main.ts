import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { loadConfigOrExit, type Config } from '@slipway/platform-config';
import { schemaGap } from '@slipway/platform-database';
import { createLogger, NestLogger, startProcessMetrics } from '@slipway/platform-observability';
import { MIGRATIONS } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { createApi } from './create-api.js';

/** Requests and event streams that are still open this long after the signal are cut. */
const DRAIN_MS = 10_000;
const IDLE_LOOK_MS = 100;

const config = loadConfigOrExit({ targets: TARGETS });
const logger = new NestLogger(createLogger({ service: 'api', level: config.logLevel }));
Logger.overrideLogger(logger);
startProcessMetrics('api');

await refuseUnfittingSchema(config);
const app = await createApi(config, { logger });

let stopping: Promise<void> | undefined;
const stop = (why: string): void => {
  stopping ??= drain(why);
};
// `on`, not `once`: a terminal and a launcher may both send the signal, and the second one must not kill what drains.
process.on('SIGTERM', () => stop('SIGTERM'));
process.on('SIGINT', () => stop('SIGINT'));
// The launcher is gone: nobody would ever stop this process.
process.once('disconnect', () => stop('the launcher is gone'));

await app.listen(config.apiPort, config.host);
const { port } = app.getHttpServer().address() as AddressInfo;
logger.log(`listening on ${config.host}:${port}`, 'api');
process.send?.('slipway:ready');

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

/** A process that does not know the schema would write rows that the one which does cannot read. */
async function refuseUnfittingSchema({ database }: Config): Promise<void> {
  const gap = await schemaGap(database.url, MIGRATIONS);
  if (gap.unknown.length > 0)
    exit(`the database was migrated by a newer version, which added ${gap.unknown.join(', ')}`);
  if (gap.missing.length > 0) exit(`the database lacks ${gap.missing.length} migrations: run \`npm run migrate\``);
}

function exit(problem: string): never {
  process.stderr.write(`Slipway api cannot start: ${problem}\n`);
  process.exit(1);
}
