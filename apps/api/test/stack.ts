import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '@slipway/platform-database/testing';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-testing';
import { MIGRATIONS } from '@slipway/registry';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const BOOTSTRAP = `slw_bootstrap0001_${'b'.repeat(43)}`;

export type App = 'api' | 'worker' | 'gateway';

export interface StackAnswer {
  status: number;
  body: any;
  headers: Headers;
}

/** The product as its own processes on a database of its own: what containers run, and what kill -9 is aimed at. */
export class Stack {
  readonly home = mkdtempSync(path.join(tmpdir(), 'slipway-e2e-'));
  readonly token = BOOTSTRAP;
  private readonly children = new Map<string, { child: ChildProcess; app: App; env: NodeJS.ProcessEnv }>();

  private constructor(
    readonly testDatabase: TestDatabase,
    private readonly ports: { api: number[]; gateway: number },
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  /**
   * @param options.env variables for every process; `config` replaces the embedded default of execution targets; `through`
   * changes the way to Postgres
   */
  static async start(
    options: {
      apis?: number;
      workers?: number;
      gateway?: boolean;
      env?: NodeJS.ProcessEnv;
      through?: (databaseUrl: string) => string;
      config?: (home: string) => string;
    } = {},
  ): Promise<Stack> {
    const testDatabase = await createTestDatabase(MIGRATIONS);
    const ports = {
      api: await Promise.all(Array.from({ length: options.apis ?? 1 }, freePort)),
      gateway: await freePort(),
    };
    const stack = new Stack(testDatabase, ports, {
      ...(options.through && { DATABASE_URL: options.through(testDatabase.url) }),
      ...options.env,
    });
    if (options.config) writeFileSync(path.join(stack.home, 'slipway.config.yaml'), options.config(stack.home));
    for (let i = 0; i < ports.api.length; i += 1) stack.spawn('api', i);
    for (let i = 0; i < (options.workers ?? 1); i += 1) stack.spawn('worker', i);
    if (options.gateway) stack.spawn('gateway', 0);
    await stack.ready();
    return stack;
  }

  /** Starts a process, or starts it again after `kill`. `env` is for this start only. */
  spawn(app: App, index = 0, env: NodeJS.ProcessEnv = {}): ChildProcess {
    const full = { ...this.environment(app, index), ...env };
    const child = spawn(process.execPath, [path.join(ROOT, `apps/${app}/dist/main.js`)], {
      cwd: ROOT,
      env: full,
      stdio: ['ignore', 'ignore', 'pipe'],
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

  /** Resolves when the process has died of itself or stands at its pause point. */
  async paused(app: App, index: number, name: string): Promise<void> {
    await until(`${app} pauses at ${name}`, async () => this.logOf(app, index).includes(`paused at ${name}`));
  }

  async ready(): Promise<void> {
    for (let i = 0; i < this.ports.api.length; i += 1) {
      await until(
        `api ${i} is ready`,
        async () => (await fetch(`${this.apiUrl(i)}/readyz`).catch(() => undefined))?.ok === true,
        60_000,
        () => this.logOf('api', i),
      );
    }
    if (this.children.has('gateway0')) {
      await until(
        'the gateway is ready',
        async () => (await fetch(`${this.gatewayUrl}/readyz`).catch(() => undefined))?.ok === true,
        60_000,
        () => this.logOf('gateway'),
      );
    }
  }

  apiUrl(index = 0): string {
    return `http://127.0.0.1:${this.ports.api[index]}`;
  }

  get gatewayUrl(): string {
    return `http://127.0.0.1:${this.ports.gateway}`;
  }

  async send(
    method: string,
    target: string,
    body?: unknown,
    options: { headers?: Record<string, string>; api?: number; token?: string } = {},
  ): Promise<StackAnswer> {
    const answer = await fetch(`${this.apiUrl(options.api)}/api/v1${target}`, {
      method,
      headers: {
        authorization: `Bearer ${options.token ?? this.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text), headers: answer.headers };
  }

  /** Waits until an operation has one of these statuses, surviving an API that is away. */
  async operation(
    id: string,
    statuses: readonly string[] = ['succeeded', 'failed', 'cancelled'],
    limitMs = 60_000,
  ): Promise<any> {
    let last: any;
    await until(
      `operation ${id} is ${statuses.join(' or ')}`,
      async () => {
        last = (await this.send('GET', `/operations/${id}`).catch(() => undefined))?.body ?? last;
        return statuses.includes(last?.status);
      },
      limitMs,
      () => JSON.stringify(last),
    );
    return last;
  }

  /** Rows of the database as its owner sees them, for looking behind the API. */
  async query<R = any>(sql: string, values: unknown[] = []): Promise<R[]> {
    const client = new pg.Client({ connectionString: this.testDatabase.ownerUrl });
    await client.connect();
    try {
      return (await client.query(sql, values)).rows as R[];
    } finally {
      await client.end();
    }
  }

  /** How often the simulator was started, by its own log: one line a start. */
  simulatorStarts(model?: string): { pid: number; model: string }[] {
    const lines = readOrEmpty(path.join(this.home, 'sim-starts.log')).split('\n').filter(Boolean);
    return lines.map((line) => JSON.parse(line)).filter((start) => model === undefined || start.model === model);
  }

  async stop(): Promise<void> {
    for (const [key, { app }] of this.children) await this.kill(app, Number(key.slice(app.length)));
    for (const { pid } of this.simulatorStarts()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    await this.testDatabase.drop();
    rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }

  private environment(app: App, index: number): NodeJS.ProcessEnv {
    const own = {
      api: { SLIPWAY_API_PORT: String(this.ports.api[index] ?? 0) },
      gateway: { SLIPWAY_GATEWAY_PORT: String(this.ports.gateway) },
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
      SLIPWAY_GATEWAY_PORT: String(this.ports.gateway),
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
