import { growHeapWhileBusy } from '@slipway/platform-observability/lean-heap';
import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { followOperatorFile, loadConfigOrExit, loadKinds, makeHome } from '@slipway/platform-config';
import { ProcessLife, STOP_ENGINES_MESSAGE } from '@slipway/platform-config/process-life';
import { Database, reachPostgres, requireFit } from '@slipway/platform-database';
import {
  createLogger,
  NestLogger,
  startProbeServer,
  startProcessMetrics,
  type ProbeServer,
} from '@slipway/platform-observability';
import { OperationWorker } from '@slipway/platform-durable/operations';
import { OPERATION_QUEUE, reachRedis, type OperationQueue } from '@slipway/platform-durable/queue';
import { MIGRATIONS, SEALED } from '@slipway/registry';
import { TARGETS } from '@slipway/registry/targets';
import { WorkerModule } from './worker.module.js';

const READY_CHECK_MS = 50;

await loadKinds(TARGETS);
const config = loadConfigOrExit({ process: 'worker', targets: TARGETS });
const { host, logLevel, metricsPort, metricsToken } = config;
const logger = new NestLogger(createLogger({ service: 'worker', level: logLevel }));
Logger.overrideLogger(logger);
startProcessMetrics('worker');
followOperatorFile(config, new Logger('config'));
const life = new ProcessLife({
  name: 'worker',
  logLevel,
  log: { info: (line) => logger.log(line, 'worker'), error: (line) => logger.error(line, 'worker') },
});
let endsEngines = false;
process.on('message', (message) => {
  if (message === STOP_ENGINES_MESSAGE) endsEngines = true;
});

await prepare().catch(life.refuse);
/** Nest passes the reason to the shutdown hooks, although its interface does not declare the parameter. */
const app: INestApplicationContext & { close(signal?: string): Promise<void> } =
  await NestFactory.createApplicationContext(WorkerModule.forRoot(config), { logger, abortOnError: false }).catch(
    life.refuse,
  );
const database = app.get(Database, { strict: false });
const queue = app.get<OperationQueue>(OPERATION_QUEUE, { strict: false });
let probes: ProbeServer | undefined;
life.closesWith(close);
if (!life.isStopping && metricsPort !== undefined) {
  const address = { host, port: metricsPort, variable: 'SLIPWAY_METRICS_PORT' };
  probes = await life.listen(address, () => startProbeServer({ ...address, metricsToken, ready: assertReady }));
}
while (!life.isStopping && !(await isReady())) await delay(READY_CHECK_MS);
if (!life.isStopping) {
  logger.log('accepting operations', 'worker');
  life.ready();
  growHeapWhileBusy();
}

/** Operations stop first: an operation that checked while the engines stop would consider its candidate dead. */
async function close(reason: string): Promise<void> {
  await app.get(OperationWorker, { strict: false }).stop();
  await app.close(endsEngines ? STOP_ENGINES_MESSAGE : reason);
  await probes?.close();
}

async function assertReady(): Promise<void> {
  if (life.isStopping) throw new Error('the process is stopping');
  await database.ping();
  if (!queue.ready()) throw new Error('the queue does not respond');
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

/**
 * In production, a worker starts even if Redis is away, because it also polls
 * for due work. A refusal by Redis is final.
 */
async function lookAtRedis(url: string, isPatient: boolean, say: (line: string) => void): Promise<void> {
  const once = new AbortController();
  const sayOnce = (line: string): void => {
    say(line);
    if (isPatient) once.abort();
  };
  await reachRedis(url, { isPatient, say: sayOnce, signal: once.signal });
}
