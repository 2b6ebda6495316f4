import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { loadConfigOrExit } from '@slipway/platform-config';
import { Database, schemaGap } from '@slipway/platform-database';
import {
  createLogger,
  NestLogger,
  startProbeServer,
  startProcessMetrics,
  type ProbeServer,
} from '@slipway/platform-observability';
import { OPERATION_QUEUE, type OperationQueue } from '@slipway/platform-queue';
import { MIGRATIONS } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { WorkerModule } from './worker.module.js';

/** From the launcher, ahead of its SIGTERM: the whole stack goes down, so the engines end with this process. */
const STOP_ENGINES = 'slipway:stop-engines';
const LOOK_MS = 50;
const RETRY_MS = 1_000;

const config = loadConfigOrExit({ targets: TARGETS });
const logger = new NestLogger(createLogger({ service: 'worker', level: config.logLevel }));
Logger.overrideLogger(logger);
startProcessMetrics('worker');

let endsEngines = false;
let stopping: Promise<void> | undefined;
let running: { close(why: string): Promise<void> } | undefined = undefined;

process.on('message', (message) => {
  if (message === STOP_ENGINES) endsEngines = true;
});
process.once('SIGTERM', () => stop('SIGTERM'));
process.once('SIGINT', () => stop('SIGINT'));
// The launcher is gone: nobody would ever stop this process.
process.once('disconnect', () => stop('the launcher is gone'));

await refuseUnfittingSchema();
/** Nest hands the reason on to the shutdown hooks, which its interface does not say. */
const app: INestApplicationContext & { close(signal?: string): Promise<void> } =
  await NestFactory.createApplicationContext(WorkerModule.forRoot(config), { logger, abortOnError: false });
const database = app.get(Database, { strict: false });
const queue = app.get<OperationQueue>(OPERATION_QUEUE, { strict: false });
let probes: ProbeServer | undefined;
running = { close };
if (stopping === undefined && config.metricsPort !== undefined) {
  probes = await startProbeServer({
    port: config.metricsPort,
    host: config.host,
    metricsToken: config.metricsToken,
    ready: assertReady,
  });
}
while (stopping === undefined && !(await isReady())) await delay(LOOK_MS);
if (stopping === undefined) {
  logger.log('taking operations', 'worker');
  process.send?.('slipway:ready');
}

function stop(why: string): void {
  stopping ??= shutDown(why);
}

async function shutDown(why: string): Promise<void> {
  logger.log(`stopping: ${why}`, 'worker');
  try {
    await running?.close(why);
    process.exit(0);
  } catch (failure) {
    logger.error(`stopping failed: ${failure instanceof Error ? failure.message : String(failure)}`, 'worker');
    process.exit(1);
  }
}

/** Operations stop first: one that looked while engines go down would take its candidate for dead. */
async function close(why: string): Promise<void> {
  await queue.close();
  await app.close(endsEngines ? STOP_ENGINES : why);
  await probes?.close();
}

async function assertReady(): Promise<void> {
  if (stopping) throw new Error('the process is stopping');
  await database.ping();
  if (!queue.ready()) throw new Error('the queue does not answer');
}

function isReady(): Promise<boolean> {
  return assertReady().then(
    () => true,
    () => false,
  );
}

/** A process that does not know the schema would write rows that the one which does cannot read. Postgres may still be on its way. */
async function refuseUnfittingSchema(): Promise<void> {
  let trouble = '';
  for (;;) {
    try {
      const gap = await schemaGap(config.database.url, MIGRATIONS);
      if (gap.unknown.length > 0)
        refuse(`the database was migrated by a newer version, which added ${gap.unknown.join(', ')}`);
      if (gap.missing.length > 0)
        refuse(`the database lacks ${gap.missing.length} migrations: run \`npm run migrate\``);
      return;
    } catch (failure) {
      const message =
        failure instanceof Error
          ? failure.message || (failure as NodeJS.ErrnoException).code || failure.name
          : String(failure);
      if (message !== trouble) logger.warn(`waiting for the database: ${message}`, 'worker');
      trouble = message;
      await delay(RETRY_MS);
    }
  }
}

function refuse(problem: string): never {
  process.stderr.write(`Slipway worker cannot start: ${problem}\n`);
  process.exit(1);
}
