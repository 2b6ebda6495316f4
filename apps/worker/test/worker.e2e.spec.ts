import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { migrations as database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { MIGRATIONS } from '@slipway/registry';
import pg from 'pg';
import { ProductBed } from './product-bed.js';
import { Supplier } from './supplier.js';

jest.setTimeout(120_000);

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A minimal engine, and servers that run elsewhere. */
const CONFIG = `
targets:
  - name: local
    kind: process
    engines:
      mini:
        command:
          - node
          - -e
          - 'require("node:http").createServer((_, response) => response.end("[1]")).listen(process.argv[1], "127.0.0.1")'
          - '{port}'
        ready: {path: /health, timeout_seconds: 60}
  - name: adopted
    kind: endpoint
    allow: ["http://127.0.0.1:*"]
outbound:
  suppliers: ["http://127.0.0.1:*"]
`;

let db: TestDatabase;
let home: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  db = await createTestDatabase(MIGRATIONS);
  home = await mkdtemp(path.join(tmpdir(), 'slipway-worker-'));
  await writeFile(path.join(home, 'slipway.config.yaml'), CONFIG);
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await db?.drop();
  await rm(home, { recursive: true, force: true });
});

class Worker {
  said = '';
  hasEnded = false;
  readonly ended: Promise<number | null>;
  readonly ready: Promise<unknown>;

  constructor(private readonly child: ChildProcess) {
    children.push(child);
    child.stderr?.on('data', (chunk) => (this.said += String(chunk)));
    this.ready = new Promise((resolve) => child.once('message', resolve));
    this.ended = new Promise((resolve) => child.once('exit', resolve));
    void this.ended.then(() => (this.hasEnded = true));
  }

  static start(databaseUrl: string, env: Record<string, string> = {}): Worker {
    return new Worker(
      fork(path.join(ROOT, 'apps/worker/dist/main.js'), {
        // The child must not inherit Jest's own options.
        execArgv: [],
        cwd: path.join(ROOT, 'apps/worker'),
        env: {
          PATH: process.env['PATH'],
          DATABASE_URL: databaseUrl,
          SLIPWAY_HOME: home,
          SLIPWAY_CONFIG: path.join(home, 'slipway.config.yaml'),
          SLIPWAY_LEASE_SECONDS: '2',
          SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
          NODE_ENV: 'test',
          ...env,
        },
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      }),
    );
  }

  async isReady(): Promise<void> {
    const what = await Promise.race([this.ready, this.ended.then((code) => `ended with ${code}: ${this.said}`)]);
    expect(what).toBe('slipway:ready');
  }

  readonly terminate = () => this.child.kill('SIGTERM');
  readonly kill = () => this.child.kill('SIGKILL');
  readonly disconnect = () => this.child.disconnect();
  readonly tell = (message: string) => this.child.send(message);
}

/** Runs SQL as the owner of the tables, to inspect the product's rows and to write what other processes would write. */
async function sql<R extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<R[]> {
  const owner = new pg.Client({ connectionString: db.ownerUrl });
  await owner.connect();
  try {
    return (await owner.query<R>(text, values)).rows;
  } finally {
    await owner.end();
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A zombie runs nothing: it waits for a parent that may never collect it. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const status = `/proc/${pid}/status`;
    return !existsSync(status) || !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
  } catch {
    return false;
  }
}

it('keeps its heap small from its first module on', async () => {
  const main = await readFile(path.join(ROOT, 'apps/worker/dist/main.js'), 'utf8');
  expect(main).toMatch(/^import \{ growHeapWhileBusy \} from '@slipway\/platform-observability\/lean-heap';\n/);
});

it('reports when it is ready, and ends by itself when its launcher is gone', async () => {
  const worker = Worker.start(db.url);
  await worker.isReady();
  worker.disconnect();
  expect(await worker.ended).toBe(0);
});

describe('at SIGTERM', () => {
  let supplier: Supplier;
  let api: ProductBed;

  beforeAll(async () => {
    supplier = await Supplier.start();
    api = await ProductBed.start({ process: 'api', database: db });
  });
  afterAll(async () => {
    await api?.stop();
    supplier?.stop();
  });

  const operationNow = async (id: string) => {
    const [row] = await sql<{ status: string; held: boolean; attempt: number; steps: Record<string, string> }>(
      `select o.status, o.lease_expires_at is not null as held, o.attempt,
         (select jsonb_object_agg(s.name, s.status) from operation_steps s where s.operation_id = o.id) as steps
       from operations o where o.id = $1`,
      [id],
    );
    return row!;
  };

  const claimsUnderWay = async () => {
    const [row] = await sql<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid() and query like '%skip locked) due%'`,
    );
    return row!.count;
  };

  it('finishes the work that it has begun, claims no more, and ends', async () => {
    const worker = Worker.start(db.url);
    await worker.isReady();
    const [one, other] = [await api.binding(supplier.url), await api.binding(supplier.url)];
    supplier.hold();
    const operation = await api.qualification(one);
    // The server has received the call and has not answered it.
    await until('a step to be under way', async () => supplier.completions === 1);
    worker.terminate();
    await until('it to be stopping', async () => worker.said.includes('stopping: SIGTERM'));
    // A claim that was in progress at the signal, or begins before the signal has reached the claims, may still find an
    // operation that is accepted now.
    let quietChecks = 0;
    await until('the last claim to end', async () => {
      quietChecks = (await claimsUnderWay()) === 0 ? quietChecks + 1 : 0;
      return quietChecks === 10;
    });
    const later = await api.qualification(other);
    expect([worker.hasEnded, (await operationNow(operation)).steps['chat_completion']]).toEqual([false, 'running']);
    supplier.release();
    expect(await worker.ended).toBe(0);
    // The step was not repeated, and the operation ended within the drain.
    expect(supplier.completions).toBe(1);
    expect(await operationNow(operation)).toMatchObject({ status: 'succeeded', held: false, attempt: 1 });
    expect(await operationNow(later)).toMatchObject({ status: 'pending', held: false });

    const successor = Worker.start(db.url);
    await until('the next worker to take it up', async () => (await operationNow(later)).status === 'succeeded');
    successor.kill();
  });

  it('does not wait for ever for a step, and hands the operation over when its lease ends', async () => {
    const point = 'operation:chat_completion:before-commit';
    const worker = Worker.start(db.url, { SLIPWAY_PAUSE_POINT: point });
    await worker.isReady();
    const operation = await api.qualification(await api.binding(supplier.url));
    await until('the step to stand still', async () => worker.said.includes(`paused at ${point}`));
    worker.terminate();
    expect(await worker.ended).toBe(0);
    const left = await operationNow(operation);
    expect(left).toMatchObject({ status: 'running', held: true, steps: { chat_completion: 'running' } });
    const asked = supplier.completions;
    const successor = Worker.start(db.url);
    await until('the next worker to go on', async () => (await operationNow(operation)).status === 'succeeded');
    // The successor begins with the unfinished step, once more, and not from the start.
    expect(supplier.completions).toBe(asked + 1);
    successor.kill();
  });
});

describe('its engines', () => {
  const instance = async () =>
    (
      await sql<{ id: string; state: string; generation: number; restarts: number }>(
        `select id, state, generation, restarts from instances where revision_id = 'rev_1'`,
      )
    )[0];
  const ready = () => until('the engine to be ready', async () => (await instance())?.state === 'ready');
  const pidOf = async (generation: number) => {
    const file = path.join(home, 'instances', 'local', (await instance())!.id, `${generation}.pid`);
    return Number((await readFile(file, 'utf8')).split('\n')[0]);
  };

  beforeAll(async () => {
    // A rollout of the operator's tenant would write this: a revision that a route holds.
    const spec = {
      model: { id: 'tiny' },
      runtime: { target: 'local', engine: 'mini', args: {}, env: {} },
      scaling: { min_replicas: 1 },
    };
    await sql(
      `insert into workloads (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec) select 'rev_1', id, 'dep_1', 'chat-00001', 'local', 1, $1 from tenants`,
      [JSON.stringify(spec)],
    );
    await sql(`insert into workload_holds (revision_id, tenant_id, holder) select 'rev_1', id, 'route' from tenants`);
  });

  it('outlive a SIGTERM and are adopted by the next worker; if the launcher says so, they end with the worker, and not as a crash', async () => {
    const first = Worker.start(db.url);
    await ready();
    const pid = await pidOf(1);
    first.terminate();
    expect(await first.ended).toBe(0);
    expect(isAlive(pid)).toBe(true);
    expect(await instance()).toMatchObject({ state: 'ready', generation: 1, restarts: 0 });

    const second = Worker.start(db.url);
    await second.isReady();
    expect([isAlive(pid), await pidOf(1)]).toEqual([true, pid]);
    expect(await instance()).toMatchObject({ state: 'ready', generation: 1, restarts: 0 });
    second.tell('slipway:stop-engines');
    second.terminate();
    expect(await second.ended).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(await instance()).toMatchObject({ state: 'pending', generation: 2, restarts: 0 });
  });
});

it('refuses in one line a schema that lacks migrations, and a newer schema that is incompatible with it', async () => {
  const old = await createTestDatabase(database);
  const newer = await createTestDatabase(MIGRATIONS);
  try {
    const owner = new pg.Client({ connectionString: newer.ownerUrl });
    await owner.connect();
    await owner.query(`insert into schema_migrations (timestamp, name) values (9999999999999, 'Future9999999999999')`);
    await owner.query(`insert into schema_breaks values ('Future9999999999999', 'Staged9999999999998')`);
    await owner.end();
    const workers = [Worker.start(old.url), Worker.start(newer.url)];
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([78, 78]);
    expect(workers[0]?.said).toMatch(/lacks \d+ migrations: run `npm run migrate`/);
    expect(workers[1]?.said).toContain('Future9999999999999');
  } finally {
    await old.drop();
    await newer.drop();
  }
});
