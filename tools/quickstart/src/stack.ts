import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { addressOf, childEnvironment, ConfigError, loadConfig, type Config } from '@slipway/platform-config';
import { TARGETS } from '@slipway/registry/targets';
import { bootstrapToken, secretKey } from './home-secrets.js';
import { choosePort } from './ports.js';
import { otherLauncher, outliveOrphans, removeRunRecord, writeRunRecord } from './run-record.js';
import { embeddedDatabase, externalDatabase, type StackDatabase } from './stack-database.js';
import { STOP_ENGINES_MESSAGE, SupervisedProcess } from './supervised-process.js';

export interface StackOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /** Output of the processes, line by line, and the launcher's own remarks. */
  log(line: string): void;
  /** Entry points, for tests. */
  entries?: Partial<Record<'api' | 'worker' | 'gateway' | 'migrate', string>>;
}

export interface Stack {
  apiUrl: string;
  gatewayUrl: string;
  home: string;
  /** Admin token of the operator tenant. `isNew`: made by this start. */
  token: { value: string; file?: string; isNew: boolean };
  /** Resolves once, when all three processes serve. Rejects if that cannot come to be: a wrong configuration, a stop. */
  ready: Promise<void>;
  /** Drains and stops everything, engines included. Repeatable. */
  stop(): Promise<void>;
}

/** What makes a start impossible, in words for whoever typed it. `exitCode`: 78 for configuration. */
export class StackError extends Error {
  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const entryOf = (name: string, file = 'main.js'): string => path.join(ROOT, 'apps', name, 'dist', file);

/** Requests in flight get this long at a stop. */
const DRAIN_MS = 30_000;

/** Migrates and starts api, worker and gateway as child processes, on an embedded Postgres unless DATABASE_URL is set. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const env = options.env ?? childEnvironment();
  const cwd = options.cwd ?? process.cwd();
  const say = (line: string): void => options.log(`slipway | ${line}`);

  const config = check(env, cwd);
  const { home, host } = config;
  const launcher = otherLauncher(home);
  if (launcher)
    throw new StackError(
      `Slipway already runs in ${home} (process ${launcher}). Stop it, or set SLIPWAY_HOME to another folder.`,
    );
  await outliveOrphans(home, say);

  const isSet = (name: string): boolean => Boolean(env[name]?.trim());
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
  const key = config.secretKey.some((byte) => byte !== 0) ? config.secretKey.toString('base64') : secretKey(home).value;
  const token = config.bootstrapToken ? { value: config.bootstrapToken, isNew: false } : bootstrapToken(home);

  const database = config.database.embedded ? await embeddedDatabase(home, key, say) : externalDatabase(key);
  const shared: NodeJS.ProcessEnv = {
    ...env,
    ...database.env,
    SLIPWAY_HOME: home,
    SLIPWAY_API_PORT: String(apiPort),
    SLIPWAY_GATEWAY_PORT: String(gatewayPort),
  };
  writeRunRecord(home, []);
  try {
    await migrate(options.entries?.migrate ?? entryOf('api', 'migrate.js'), shared, cwd, options.log);
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
    shared,
    metricsPort: config.metricsPort,
    apiUrl: addressOf(host, apiPort),
    gatewayUrl: addressOf(host, gatewayPort),
  });
}

/** Every problem of the configuration before anything is started. The stack file comes into being only later, so a blank one stands in. */
function check(env: NodeJS.ProcessEnv, cwd: string): Config {
  const blank = {
    databaseUrl: 'postgres://127.0.0.1/',
    migrateUrl: 'postgres://127.0.0.1/',
    secretKey: Buffer.alloc(32).toString('base64'),
  };
  try {
    return loadConfig(env, cwd, { stack: blank, targets: TARGETS });
  } catch (error) {
    if (error instanceof ConfigError) throw new StackError(error.message, 78);
    throw error;
  }
}

/** A process of its own, as in production; its output is shown, its failure ends the start. */
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
      else reject(new StackError(`The migration failed:\n${output.trim()}`, code === 78 ? 78 : 1));
    });
  });
}

interface Supervision extends StackOptions {
  cwd: string;
  home: string;
  token: Stack['token'];
  database: StackDatabase;
  shared: NodeJS.ProcessEnv;
  metricsPort: number | undefined;
  apiUrl: string;
  gatewayUrl: string;
}

function supervise(given: Supervision): Stack {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);
  let stopping: Promise<void> | undefined;

  const names = ['api', 'worker', 'gateway'] as const;
  const processes = names.map((name, index) => {
    // One port for three processes of one host would be two too few.
    const metrics = given.metricsPort ? { SLIPWAY_METRICS_PORT: String(given.metricsPort + index) } : {};
    const secret =
      name === 'api' ? { SLIPWAY_BOOTSTRAP_TOKEN: given.token.value } : { SLIPWAY_BOOTSTRAP_TOKEN: undefined };
    return new SupervisedProcess({
      name,
      entry: given.entries?.[name] ?? entryOf(name),
      env: { ...given.shared, ...metrics, ...secret },
      cwd: given.cwd,
      log: given.log,
      onChange: () =>
        writeRunRecord(
          given.home,
          processes.flatMap((one) => one?.pid ?? []),
        ),
      onConfigError: () => fail(new StackError(`The ${name} refuses its configuration.`, 78)),
    });
  });
  const [api, worker, gateway] = processes as [SupervisedProcess, SupervisedProcess, SupervisedProcess];

  const stop = async (): Promise<void> => {
    fail(new StackError('stopped before it was ready'));
    // The worker first learns that its engines shall end with it; the gateway's requests need those engines until they are answered.
    worker.send(STOP_ENGINES_MESSAGE);
    await Promise.all([api.stop(DRAIN_MS), gateway.stop(DRAIN_MS)]);
    await worker.stop(DRAIN_MS);
    await given.database.stop();
    removeRunRecord(given.home);
  };

  for (const one of processes) one.start();
  const ready = Promise.race([
    failed,
    allServe([given.apiUrl, given.gatewayUrl], worker, () => stopping !== undefined),
  ]);
  ready.catch(() => undefined);
  return {
    apiUrl: given.apiUrl,
    gatewayUrl: given.gatewayUrl,
    home: given.home,
    token: given.token,
    ready,
    stop: () => (stopping ??= stop()),
  };
}

async function allServe(urls: string[], worker: SupervisedProcess, isStopping: () => boolean): Promise<void> {
  const pending = new Set(urls);
  while (!isStopping() && (pending.size > 0 || !worker.isReady)) {
    for (const url of pending) if (await serves(url)) pending.delete(url);
    await delay(50);
  }
}

async function serves(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
