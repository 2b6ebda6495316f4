import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  addressOf,
  childEnvironment,
  environmentOf,
  EXIT_CONFIG,
  loadKinds,
  makeHome,
  secretNames,
  StartupError,
  type Config,
} from '@slipway/platform-config';
import { withinTime } from '@slipway/contracts';
import { STOP_ENGINES_MESSAGE } from '@slipway/platform-config/process-life';
import { reachPostgres } from '@slipway/platform-database';
import { reachRedis } from '@slipway/platform-durable/queue';
import { TARGETS } from '@slipway/registry/targets';
import { bootstrapToken, secretKey } from './home-secrets.js';
import { choosePort } from './ports.js';
import { otherLauncher, outliveOrphans, removeRunRecord, writeRunRecord, writeUrls } from './run-record.js';
import { stackConfig } from './stack-config.js';
import { embeddedDatabase, externalDatabase, type StackDatabase } from './stack-database.js';
import { openStackLog } from './stack-log.js';
import { SupervisedProcess } from './supervised-process.js';

export interface StackOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Receives output of the processes, line by line, and the launcher's own messages. */
  log(line: string): void;
  /** Called with the log file of this stack, once it is known. */
  onLogFile?(file: string): void;
  /** Ends the wait for a database that does not answer yet. */
  signal?: AbortSignal;
  /** Entry points, for tests. */
  entries?: Partial<Record<'api' | 'worker' | 'gateway' | 'migrate', string>>;
}

export interface Stack {
  apiUrl: string;
  gatewayUrl: string;
  home: string;
  /** Admin token of the operator tenant. `isNew`: created by this start. */
  token: { value: string; file?: string; isNew: boolean };
  /** Resolves once, when all three processes serve. Rejects after an invalid configuration, a stop, or two minutes. */
  ready: Promise<void>;
  /** Makes the processes read their configuration again. */
  reload(): void;
  /** Drains and stops everything, engines included. Repeatable. */
  stop(): Promise<void>;
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const entryOf = (name: string, file = 'main.js'): string => path.join(ROOT, 'apps', name, 'dist', file);

const NAMES = ['api', 'worker', 'gateway'] as const;

/** How long a stop waits for a process before it kills it, in addition to the time for requests in flight. */
const STOP_MS = 30_000;
/** The person who pressed Ctrl-C waits for it. */
const GATEWAY_DRAIN_SECONDS = 10;
/** A cold start on a busy machine needs only a fraction of it. */
const READY_WITHIN_MS = 120_000;

/**
 * Migrates and starts api, worker and gateway as child processes, on an embedded Postgres unless DATABASE_URL is set.
 * @throws StartupError with a message for the person who typed the command
 */
export async function startStack(given: StackOptions): Promise<Stack> {
  let keep: (line: string) => void = () => undefined;
  const options = {
    ...given,
    log: (line: string): void => {
      given.log(line);
      keep(line);
    },
  };
  const env = options.env ?? childEnvironment();
  const cwd = options.cwd ?? process.cwd();
  const say = (line: string): void => options.log(`slipway | ${line}`);

  await loadKinds(TARGETS, env, cwd);
  const config = stackConfig(env, cwd, { targets: TARGETS });
  const { home, host } = config;
  makeHome(home);
  const launcher = otherLauncher(home);
  if (launcher)
    throw new StartupError(
      `Slipway is already running in ${home} (process ${launcher}). Stop it, or set SLIPWAY_HOME to another folder.`,
      1,
    );
  const stackLog = openStackLog(home);
  keep = stackLog.write;
  given.onLogFile?.(stackLog.file);
  say(`this output is also written to ${stackLog.file}`);
  const isSet = (name: string): boolean => Boolean(env[name]?.trim());
  const drainSeconds = isSet('SLIPWAY_GATEWAY_DRAIN_SECONDS') ? config.gateway.drainSeconds : GATEWAY_DRAIN_SECONDS;
  await outliveOrphans(home, drainSeconds, say);

  const apiPort = await choosePort(
    config.apiPort,
    host,
    { name: 'SLIPWAY_API_PORT', isSet: isSet('SLIPWAY_API_PORT') },
    say,
  );
  const gatewayPort = await choosePort(
    config.gatewayPort,
    host,
    { name: 'SLIPWAY_GATEWAY_PORT', isSet: isSet('SLIPWAY_GATEWAY_PORT') },
    say,
  );
  await reachServices(config, say, options.signal);
  const key = env['SLIPWAY_SECRET_KEY']?.trim() || secretKey(home).value;
  const token = config.bootstrapToken ? { value: config.bootstrapToken, isNew: false } : bootstrapToken(home);

  const database = config.database.embedded ? await embeddedDatabase(home, key, say) : externalDatabase(key);
  const { metricsPort } = config;
  // Three processes on one host need three ports.
  const metricsPorts = metricsPort ? NAMES.map((_, index) => metricsPort + index) : [];
  const shared: NodeJS.ProcessEnv = {
    ...env,
    ...database.env,
    SLIPWAY_HOME: home,
    SLIPWAY_API_PORT: String(apiPort),
    SLIPWAY_GATEWAY_PORT: String(gatewayPort),
    SLIPWAY_GATEWAY_DRAIN_SECONDS: String(drainSeconds),
    // No process knows the addresses of the others, and none may call their ports for a client.
    SLIPWAY_OWN_PORTS: [...ownPorts(config), apiPort, gatewayPort, ...metricsPorts, env['SLIPWAY_OWN_PORTS']]
      .filter(Boolean)
      .join(','),
  };
  const secrets = secretNames(config.operator);
  writeRunRecord(home, []);
  try {
    const own = environmentOf('migrate', shared, secrets);
    await migrate(options.entries?.migrate ?? entryOf('api', 'migrate.js'), own, cwd, options.log);
  } catch (error) {
    await database.stop();
    removeRunRecord(home);
    throw error;
  }
  return supervise({
    ...options,
    cwd,
    home,
    token,
    database,
    environment: (process) => environmentOf(process, process === 'gateway' ? ofGateway(shared) : shared, secrets),
    metricsPorts,
    drainMs: drainSeconds * 1_000,
    apiUrl: addressOf(host, apiPort),
    gatewayUrl: addressOf(host, gatewayPort),
  });
}

/** A gateway has its own login, and must not know that of the other processes. */
function ofGateway(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { SLIPWAY_GATEWAY_DATABASE_URL: login, ...others } = env;
  return login?.trim() ? { ...others, DATABASE_URL: login } : others;
}

/** The own ports that are known before the stack chooses the others. The operator's list must be added to them. */
function ownPorts({ ownPorts: known, database, apiPort, gatewayPort }: Config): number[] {
  // The address of the embedded Postgres is not known yet; the processes read it themselves.
  const without = new Set([apiPort, gatewayPort, ...(database.embedded ? [5432] : [])]);
  return known.filter((port) => !without.has(port));
}

/** Checks the services that the migration and the processes need, before any of them is started. */
async function reachServices(config: Config, say: (line: string) => void, signal?: AbortSignal): Promise<void> {
  const options = { isPatient: false, say, signal };
  if (!config.database.embedded)
    for (const login of ['url', 'migrateUrl'] as const) await reachPostgres(config.database, { ...options, login });
  const { backend, redisUrl } = config.queue;
  if (backend === 'redis' && redisUrl) await reachRedis(redisUrl, options);
  if (signal?.aborted) throw new StartupError('stopped before it was ready', 1);
}

/** Runs the migration as a separate process, as in production. Its output is shown, and its failure ends the start. */
export function migrate(
  entry: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  log: (line: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--enable-source-maps', entry], {
      env,
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      for (const line of output.split('\n').filter(Boolean)) log(`migrate | ${line}`);
      if (code === 0) resolve();
      else reject(new StartupError(`The migration failed:\n${output.trim()}`, code === EXIT_CONFIG ? EXIT_CONFIG : 1));
    });
  });
}

interface Supervision extends StackOptions {
  cwd: string;
  home: string;
  token: Stack['token'];
  database: StackDatabase;
  /** The variables of this process, and no others. */
  environment(process: 'api' | 'worker' | 'gateway'): NodeJS.ProcessEnv;
  /** By process, or empty. */
  metricsPorts: readonly number[];
  drainMs: number;
  apiUrl: string;
  gatewayUrl: string;
}

function supervise(given: Supervision): Stack {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);
  let stopping: Promise<void> | undefined;

  const processes = NAMES.map((name, index) => {
    const metricsPort = given.metricsPorts[index];
    const metrics = metricsPort === undefined ? {} : { SLIPWAY_METRICS_PORT: String(metricsPort) };
    const secret = name === 'api' ? { SLIPWAY_BOOTSTRAP_TOKEN: given.token.value } : {};
    return new SupervisedProcess({
      name,
      entry: given.entries?.[name] ?? entryOf(name),
      env: { ...given.environment(name), ...metrics, ...secret },
      cwd: given.cwd,
      log: given.log,
      onChange: () =>
        writeRunRecord(
          given.home,
          processes.flatMap((one) => one?.pid ?? []),
        ),
      onHopeless: (exitCode, why) => fail(new StartupError(`The ${name} failed to start: ${why}`, exitCode)),
    });
  });
  const [api, worker, gateway] = processes as [SupervisedProcess, SupervisedProcess, SupervisedProcess];

  const stop = async (): Promise<void> => {
    fail(new StartupError('stopped before it was ready', 1));
    // The worker first receives the message to end its engines with it. It is stopped last, because the gateway's
    // requests need those engines until they are answered.
    worker.send(STOP_ENGINES_MESSAGE);
    await Promise.all([api.stop(STOP_MS), gateway.stop(given.drainMs + STOP_MS)]);
    await worker.stop(STOP_MS);
    await given.database.stop();
    removeRunRecord(given.home);
  };

  for (const one of processes) one.start();
  writeUrls(given.home, { api: given.apiUrl, gateway: given.gatewayUrl });
  const ready = Promise.race([
    failed,
    allServe({ api: given.apiUrl, gateway: given.gatewayUrl }, worker, () => stopping !== undefined),
  ]);
  ready.catch(() => undefined);
  return {
    apiUrl: given.apiUrl,
    gatewayUrl: given.gatewayUrl,
    home: given.home,
    token: given.token,
    ready,
    reload: () => {
      for (const one of processes) one.signal('SIGHUP');
    },
    stop: () => (stopping ??= stop()),
  };
}

async function allServe(
  urls: Record<string, string>,
  worker: SupervisedProcess,
  isStopping: () => boolean,
): Promise<void> {
  const pending = new Set(Object.keys(urls));
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!isStopping() && (pending.size > 0 || !worker.isReady)) {
    for (const name of pending) if (await serves(urls[name] ?? '')) pending.delete(name);
    if (performance.now() > deadline) {
      const late = [...pending, ...(worker.isReady ? [] : ['worker'])].join(' and ');
      throw new StartupError(`not ready after ${READY_WITHIN_MS / 1000} s: ${late}`, 1);
    }
    await delay(50);
  }
}

async function serves(url: string): Promise<boolean> {
  try {
    return await withinTime(2_000, undefined, async (signal) => {
      const response = await fetch(`${url}/readyz`, { signal });
      await response.body?.cancel();
      return response.status === 200;
    });
  } catch {
    return false;
  }
}
