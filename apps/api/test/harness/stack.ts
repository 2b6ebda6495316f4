import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort, type TestDatabase } from '@slipway/platform-database/testing';
import { isSlipwayError, OperationFailed, Slipway, type BodyOf, type Operation } from '@slipway/sdk';
import { productDatabase } from './product-database.js';
import { wholeAnswer, type WholeAnswer } from './whole-answer.js';

/** The folder in which this version was built. */
export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
/**
 * A folder with one file per server, which starts in half the time (`set-up.mjs`). Without
 * it, every suite starts the shipped files.
 */
const BUNDLES = process.env['SLIPWAY_TEST_SERVERS'];
const BOOTSTRAP = `slw_bootstrap0001_${'b'.repeat(43)}`;

export type App = 'api' | 'worker' | 'gateway';

/**
 * The product as separate processes on a database of its own: the processes that containers run and that kill -9 ends.
 */
export class Stack {
  readonly token = BOOTSTRAP;
  private readonly children = new Map<string, { child: ChildProcess; app: App; env: NodeJS.ProcessEnv }>();

  /** One connection, because suites poll repeatedly. */
  private readonly owner: pg.Pool;

  private constructor(
    readonly home: string,
    readonly testDatabase: TestDatabase,
    private readonly ports: { api: number[]; gateway: number[] },
    private readonly env: NodeJS.ProcessEnv,
    private readonly root: string,
    private readonly isShipped: boolean,
  ) {
    this.owner = new pg.Pool({ connectionString: testDatabase.ownerUrl, max: 1 });
    // A suite may end the server's connections; the next query makes a new one.
    this.owner.on('error', () => undefined);
  }

  /**
   * @param options.env variables for every process, or a function that makes them from the api's address;
   * `config` replaces the embedded default of execution targets; `through` changes the address of Postgres;
   * `database` is an existing database; `root` is the folder of another built version; `shipped` starts
   * `dist/main.js` as an image does, instead of a bundle of it
   */
  static async start(
    options: {
      apis?: number;
      workers?: number;
      gateway?: boolean | number;
      env?: NodeJS.ProcessEnv | ((apiUrl: string) => NodeJS.ProcessEnv);
      through?: (databaseUrl: string) => string;
      config?: (home: string) => string;
      home?: string;
      database?: TestDatabase;
      root?: string;
      shipped?: boolean;
    } = {},
  ): Promise<Stack> {
    const testDatabase = options.database ?? (await productDatabase());
    const gateways = Number(options.gateway ?? 0);
    const home = options.home ?? mkdtempSync(path.join(tmpdir(), 'slipway-e2e-'));
    const ports = {
      api: await Promise.all(Array.from({ length: options.apis ?? 1 }, freePort)),
      gateway: await Promise.all(Array.from({ length: Math.max(1, gateways) }, freePort)),
    };
    const given = typeof options.env === 'function' ? options.env(`http://127.0.0.1:${ports.api[0]}`) : options.env;
    const env = { ...(options.through && { DATABASE_URL: options.through(testDatabase.url) }), ...given };
    const stack = new Stack(home, testDatabase, ports, env, options.root ?? ROOT, options.shipped ?? false);
    if (options.config) writeFileSync(path.join(stack.home, 'slipway.config.yaml'), options.config(stack.home));
    for (let i = 0; i < ports.api.length; i += 1) stack.spawn('api', i);
    for (let i = 0; i < (options.workers ?? 1); i += 1) stack.spawn('worker', i);
    for (let i = 0; i < gateways; i += 1) stack.spawn('gateway', i);
    await stack.ready();
    return stack;
  }

  /**
   * Starts a process, or restarts it after `kill`. `env` is for this start only,
   * and `channel` is the channel to a launcher.
   */
  spawn(
    app: App,
    index = 0,
    env: NodeJS.ProcessEnv = {},
    { root = this.root, channel = [] }: { root?: string; channel?: readonly 'ipc'[] } = {},
  ): ChildProcess {
    const full = { ...this.environment(app, index), ...env };
    const isBundled = BUNDLES !== undefined && root === ROOT && !this.isShipped;
    const main = isBundled ? path.join(BUNDLES, `${app}.mjs`) : path.join(root, `apps/${app}/dist/main.js`);
    const child = spawn(process.execPath, [main], {
      cwd: root,
      env: full,
      stdio: ['ignore', 'ignore', 'pipe', ...channel],
    });
    let log = '';
    child.stderr?.on('data', (chunk) => (log = (log + String(chunk)).slice(-20_000)));
    Object.defineProperty(child, 'log', { get: () => log });
    this.children.set(`${app}${index}`, { child, app, env: full });
    return child;
  }

  logOf(app: App, index = 0): string {
    return (this.children.get(`${app}${index}`)?.child as unknown as { log: string }).log;
  }

  async kill(app: App, index = 0, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.children.get(`${app}${index}`)?.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  childOf(app: App, index = 0): ChildProcess {
    return this.children.get(`${app}${index}`)!.child;
  }

  /** Sends a signal, and waits for nothing. */
  signal(app: App, signal: NodeJS.Signals, index = 0): void {
    this.children.get(`${app}${index}`)?.child.kill(signal);
  }

  /** Resolves when the process has died by itself or waits at its pause point. */
  async paused(app: App, index: number, name: string): Promise<void> {
    const isPaused = async () => this.logOf(app, index).includes(`paused at ${name}`);
    await until(`${app} pauses at ${name}`, isPaused, 60_000, () => this.logOf(app, index));
  }

  /**
   * Starts one process of each app of this version next to the running ones, as
   * number 1. Resolves when api and gateway serve.
   */
  async besideIt(): Promise<void> {
    this.ports.api.push(await freePort());
    this.ports.gateway.push(await freePort());
    for (const app of ['api', 'worker', 'gateway'] as const) this.spawn(app, 1, {}, { root: ROOT });
    await this.ready();
  }

  async ready(): Promise<void> {
    for (const [key, { app }] of this.children) {
      if (app === 'worker') continue;
      const index = Number(key.slice(app.length));
      const url = app === 'api' ? this.apiUrl(index) : this.gatewayUrlOf(index);
      await until(
        `${key} is ready`,
        async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true,
        60_000,
        () => this.logOf(app, index),
      );
    }
  }

  apiUrl(index = 0): string {
    return `http://127.0.0.1:${this.ports.api[index]}`;
  }

  get gatewayUrl(): string {
    return this.gatewayUrlOf(0);
  }

  gatewayUrlOf(index: number): string {
    return `http://127.0.0.1:${this.ports.gateway[index]}`;
  }

  /** The client for the product's work. It does not retry, so that a suite sees each failure. */
  slipway(api = 0, token = this.token): Slipway {
    return new Slipway({ baseUrl: this.apiUrl(api), token, maxRetries: 0 });
  }

  /** The same client with this token. */
  as(token: string): Slipway {
    return this.slipway(0, token);
  }

  /** @param body a plain object, which the api checks. @returns the operation */
  async rollOut(deployment: string, body: object, api = 0): Promise<string> {
    const { rollouts } = this.slipway(api).deployments;
    return (await rollouts.create(deployment, body as BodyOf<'createRollout'>)).operation.id;
  }

  /** Also returns the status and the headers of HTTP. */
  answerTo<T>(call: (slipway: Slipway) => PromiseLike<T>, token = this.token): Promise<WholeAnswer<T>> {
    return wholeAnswer({ baseUrl: this.apiUrl(), token }, call);
  }

  /** Waits until an operation has ended or has one of these statuses, even if the API is temporarily away. */
  async operation(id: string, statuses?: readonly string[], limitMs = 60_000, api = 0): Promise<any> {
    const { operations } = this.slipway(api);
    const deadline = Date.now() + limitMs;
    let last: Operation | undefined;
    const ended = () =>
      operations.wait(id, {
        limitMs: deadline - Date.now(),
        pollMs: 50,
        onStep: (_, operation) => void (last = operation),
      });
    await until(
      `operation ${id} ${statuses ? `is ${statuses.join(' or ')}` : 'has ended'}`,
      async () => {
        try {
          last = await (statuses ? operations.get(id) : ended());
        } catch (error) {
          if (error instanceof OperationFailed) last = error.operation;
          else if (!isSlipwayError(error)) throw error;
        }
        return statuses ? statuses.includes(last?.status ?? '') : last?.completed_at != null;
      },
      limitMs,
      () => standing(last),
    );
    return last;
  }

  /** Runs SQL as the owner of the database, to inspect rows that the API does not show. */
  async query<R = any>(sql: string, values: unknown[] = []): Promise<R[]> {
    return (await this.owner.query(sql, values)).rows as R[];
  }

  /** Returns the starts of the simulator from its own log, which has one line per start. */
  simulatorStarts(model?: string): { pid: number; model: string }[] {
    const lines = readOrEmpty(path.join(this.home, 'sim-starts.log')).split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line)).filter((start) => model === undefined || start.model === model);
  }

  async stop(): Promise<void> {
    for (const [key, { app }] of this.children) await this.kill(app, Number(key.slice(app.length)));
    for (const { pid } of this.simulatorStarts()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await this.owner.end();
    await this.testDatabase.drop();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  private environment(app: App, index: number): NodeJS.ProcessEnv {
    const own = {
      api: { SLIPWAY_API_PORT: String(this.ports.api[index] ?? 0) },
      gateway: { SLIPWAY_GATEWAY_PORT: String(this.ports.gateway[index] ?? 0) },
      worker: {},
    }[app];
    return {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      NODE_ENV: 'test',
      DATABASE_URL: this.testDatabase.url,
      SLIPWAY_HOME: this.home,
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
      SLIPWAY_BOOTSTRAP_TOKEN: this.token,
      SLIPWAY_LEASE_SECONDS: '2',
      SLIPWAY_LOG_LEVEL: 'info',
      SLIPWAY_RATE_LIMIT_READS: '0',
      SLIPWAY_RATE_LIMIT_MUTATIONS: '0',
      SLIPWAY_GATEWAY_PORT: String(this.ports.gateway[0]),
      SLIPWAY_OWN_PORTS: this.ports.api.join(','),
      QUEUE_BACKEND: 'postgres',
      ...(readOrEmpty(path.join(this.home, 'slipway.config.yaml'))
        ? { SLIPWAY_CONFIG: path.join(this.home, 'slipway.config.yaml') }
        : {}),
      ...own,
      ...this.env,
    };
  }
}

export async function until(
  what: string,
  check: () => Promise<boolean>,
  limitMs = 30_000,
  detail: () => string = () => '',
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (Date.now() < deadline) {
    if (await check()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not within ${limitMs} ms: ${what} ${detail()}`);
}

/** Describes the state of an operation, and then all of it; a long message is shortened. */
function standing(operation: any): string {
  const { status, current_step, steps = [] } = operation ?? {};
  const step = steps.findLast(({ status }: any) => status !== 'pending');
  return [{ status, current_step, step }, operation].map((one) => JSON.stringify(one)).join('\n');
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readOrEmpty(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
