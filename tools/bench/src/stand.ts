import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { childEnvironment } from '@slipway/platform-config';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@slipway/platform-database';
import { Slipway } from '@slipway/sdk';
import type { Slices } from './measure.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const READY_MS = 60_000;

export type App = 'api' | 'worker' | 'gateway';

/**
 * `smoke` only shows that every part runs. `quick` takes a third of the time of `full`, which gives the official
 * figures.
 */
export type Size = 'full' | 'quick' | 'smoke';

/** The environment of the benchmarks: an embedded Postgres with durable settings, and the product's own processes. */
export class Stand {
  readonly token = `slw_bench00000001_${'b'.repeat(43)}`;
  private readonly children = new Set<ChildProcess>();
  private readonly others = new Set<Stand>();

  private constructor(
    readonly size: Size,
    readonly home: string,
    readonly postgres: EmbeddedPostgres,
    /** A superuser in the product's database. It fills tables, and is the role of the limits. */
    readonly admin: pg.Pool,
  ) {}

  static async open(size: Size): Promise<Stand> {
    const home = mkdtempSync(path.join(tmpdir(), 'slipway-bench-'));
    // The thousand watchers use one token.
    writeFileSync(path.join(home, 'slipway.config.yaml'), 'quotas: {event_streams_per_token: 1000}\n');
    const postgres = await startEmbeddedPostgres({ dir: home });
    const url = new URL(postgres.superuserUrl);
    url.pathname = new URL(postgres.appUrl).pathname;
    const admin = new pg.Pool({ connectionString: url.href, max: 40 });
    // `end` of the pool does not wait for its connections, and the server stops next.
    admin.on('error', () => undefined);
    const stand = new Stand(size, home, postgres, admin);
    await stand.run(path.join(ROOT, 'apps/api/dist/migrate.js'));
    return stand;
  }

  /**
   * A second environment with its own Postgres, to compare two databases. It is removed when the part that requested it
   * ends.
   */
  async another(): Promise<Stand> {
    const other = await Stand.open(this.size);
    this.others.add(other);
    return other;
  }

  get adminUrl(): string {
    return (this.admin.options as { connectionString: string }).connectionString;
  }

  /** Returns the number for the size of the run. */
  sized(full: number, quick: number, smoke: number): number {
    return { full, quick, smoke }[this.size];
  }

  get slices(): Slices {
    return { rounds: this.sized(7, 3, 1), sliceMs: this.sized(1_000, 600, 100) };
  }

  get bearer(): { authorization: string } {
    return { authorization: `Bearer ${this.token}` };
  }

  /**
   * A client that prepares a benchmark. It does not retry, so that failures are visible. Load uses raw requests,
   * because the client's own work must not count as work of the api.
   */
  client(baseUrl: string): Slipway {
    return new Slipway({ baseUrl, token: this.token, maxRetries: 0 });
  }

  /** The tenant of the token; it exists once an api has started. */
  async operatorTenant(): Promise<string> {
    const { rows } = await this.admin.query<{ id: string }>('select id from tenants where is_operator');
    return rows[0]!.id;
  }

  /** Starts a process of the product and waits until it is ready. @returns its address (none for the worker) */
  async app(app: App): Promise<string> {
    return (await this.process(app)).url;
  }

  /** Starts a process that is measured from outside, or ended before the others. */
  async process(app: App): Promise<{ url: string; pid: number }> {
    const port = await freePort();
    const own = { [app === 'api' ? 'SLIPWAY_API_PORT' : 'SLIPWAY_GATEWAY_PORT']: String(port) };
    const { child } = await this.child(path.join(ROOT, `apps/${app}/dist/main.js`), [], own);
    return { url: `http://127.0.0.1:${port}`, pid: child.pid as number };
  }

  /** Ends the process and waits until it is gone. */
  async end(pid: number): Promise<void> {
    await Promise.all([...this.children].filter((child) => child.pid === pid).map((child) => end(child)));
  }

  /**
   * Starts one of our own processes, which reports its port (or 0) when it is ready.
   * @param own additional environment variables
   */
  async limit(
    name: string,
    args: string[] = [],
    own: Record<string, string> = {},
  ): Promise<{ url: string; pid: number; child: ChildProcess }> {
    return this.program(fileURLToPath(new URL(`./limits/${name}.js`, import.meta.url)), args, own);
  }

  /** Starts any file in the same way. */
  async program(
    file: string,
    args: string[],
    own: Record<string, string> = {},
  ): Promise<{ url: string; pid: number; child: ChildProcess }> {
    const { child, message } = await this.child(file, args, own);
    return { url: `http://127.0.0.1:${message}`, pid: child.pid as number, child };
  }

  /** Ends the processes and empties the tables, so that no benchmark works on rows of another one. */
  async clear(): Promise<void> {
    await this.endAll();
    const { rows } = await this.admin.query<{ list: string }>(
      `select string_agg(format('%I', tablename), ', ') as list from pg_tables where schemaname = 'public' and tablename not in ('schema_migrations', 'schema_breaks', 'event_subscriptions', 'tenants', 'api_tokens')`,
    );
    await this.admin.query(`truncate ${rows[0]!.list} cascade`);
  }

  async close(): Promise<void> {
    await this.endAll();
    await this.admin.end();
    await this.postgres.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  private async endAll(): Promise<void> {
    await Promise.all([...this.children].map((child) => end(child)));
    await Promise.all([...this.others].map((other) => other.close()));
    this.others.clear();
  }

  private environment(own: Record<string, string>): NodeJS.ProcessEnv {
    return childEnvironment({
      // Not `test`, because every transaction is watched there, which costs time.
      NODE_ENV: 'development',
      DATABASE_URL: this.postgres.appUrl,
      SLIPWAY_MIGRATE_DATABASE_URL: this.postgres.ownerUrl,
      SLIPWAY_HOME: this.home,
      SLIPWAY_CONFIG: path.join(this.home, 'slipway.config.yaml'),
      REDIS_URL: undefined,
      QUEUE_BACKEND: 'postgres',
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 9).toString('base64'),
      SLIPWAY_BOOTSTRAP_TOKEN: this.token,
      SLIPWAY_LOG_LEVEL: 'warn',
      SLIPWAY_RATE_LIMIT_READS: '0',
      SLIPWAY_RATE_LIMIT_MUTATIONS: '0',
      SLIPWAY_GATEWAY_RATE_LIMIT: '0',
      SLIPWAY_GATEWAY_CONCURRENCY: '0',
      SLIPWAY_METRICS_PORT: undefined,
      ...own,
    });
  }

  private async child(
    entry: string,
    args: string[],
    own: Record<string, string>,
  ): Promise<{ child: ChildProcess; message: unknown }> {
    const child = fork(entry, args, {
      cwd: this.home,
      env: this.environment(own),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    this.children.add(child);
    child.once('exit', () => this.children.delete(child));
    return { child, message: await firstMessage(child, entry) };
  }

  private async run(entry: string): Promise<void> {
    const child = fork(entry, [], {
      cwd: this.home,
      env: this.environment({}),
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      execArgv: [],
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    if (code !== 0) throw new Error(`${path.basename(entry)} exited with ${String(code)}`);
  }
}

function firstMessage(child: ChildProcess, entry: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`${entry} is not ready after ${READY_MS} ms`)), READY_MS);
    child.once('message', (message) => {
      clearTimeout(limit);
      resolve(message);
    });
    child.once('exit', (code) => {
      clearTimeout(limit);
      reject(new Error(`${entry} ended with ${String(code)} before it was ready`));
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), 3_000);
  await gone;
  clearTimeout(insist);
}

export async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
