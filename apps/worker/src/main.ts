import '@slipway/platform-observability/lean-heap';
import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  cannotStart,
  followOperatorFile,
  listenFault,
  loadConfigOrExit,
  loadKinds,
  makeHome,
} from '@slipway/platform-config';
import { Database, reachPostgres, requireFit } from '@slipway/platform-database';
import {
  createLogger,
  NestLogger,
  startProbeServer,
  startProcessMetrics,
  type ProbeServer,
} from '@slipway/platform-observability';
import { OperationWorker } from '@slipway/platform-operations';
import { OPERATION_QUEUE, reachRedis, type OperationQueue } from '@slipway/platform-queue';
import { MIGRATIONS, SEALED } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { WorkerModule } from './worker.module.js';

/** From the launcher, ahead of its SIGTERM: the whole stack goes down, so the engines end with this process. */
const STOP_ENGINES = 'slipway:stop-engines';
const LOOK_MS = 50;

await loadKinds(TARGETS);
const config = loadConfigOrExit({ targets: TARGETS });
const logger = new NestLogger(createLogger({ service: 'worker', level: config.logLevel }));
Logger.overrideLogger(logger);
startProcessMetrics('worker');
followOperatorFile(config, new Logger('config'));

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

const refuse = (error: unknown): never => cannotStart('worker', error, config.logLevel);
await prepare().catch(refuse);
/** Nest hands the reason on to the shutdown hooks, which its interface does not say. */
const app: INestApplicationContext & { close(signal?: string): Promise<void> } =
  await NestFactory.createApplicationContext(WorkerModule.forRoot(config), { logger, abortOnError: false }).catch(
    refuse,
  );
const database = app.get(Database, { strict: false });
const queue = app.get<OperationQueue>(OPERATION_QUEUE, { strict: false });
let probes: ProbeServer | undefined;
running = { close };
if (stopping === undefined && config.metricsPort !== undefined) {
  const asked = { host: config.host, port: config.metricsPort, variable: 'SLIPWAY_METRICS_PORT' };
  probes = await startProbeServer({ ...asked, metricsToken: config.metricsToken, ready: assertReady }).catch(
    (error: unknown) => refuse(listenFault(error, asked) ?? error),
  );
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
  await app.get(OperationWorker, { strict: false }).stop();
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

async function prepare(): Promise<void> {
  const hasEngines = config.operator.targets.some((target) => target.kind === 'process');
  if (hasEngines || config.upload.workspaceStore.startsWith('file:')) makeHome(config.home);
  const isPatient = config.env === 'production';
  const say = (line: string): void => logger.warn(line, 'worker');
  await reachPostgres(config.database, { isPatient, say, check: () => requireFit(config, MIGRATIONS, SEALED) });
  if (config.queue.backend === 'redis' && config.queue.redisUrl)
    await lookAtRedis(config.queue.redisUrl, isPatient, say);
}

/** In production a worker starts while Redis is away, as it also looks by itself for what is due; what Redis refuses stays refused. */
async function lookAtRedis(url: string, isPatient: boolean, say: (line: string) => void): Promise<void> {
  const once = new AbortController();
  const sayOnce = (line: string): void => {
    say(line);
    if (isPatient) once.abort();
  };
  await reachRedis(url, { isPatient, say: sayOnce, signal: once.signal });
}
