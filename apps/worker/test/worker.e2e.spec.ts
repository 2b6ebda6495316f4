import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { migrations as database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-testing';
import { MIGRATIONS } from '@slipway/registry';
import pg from 'pg';

jest.setTimeout(120_000);

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

let db: TestDatabase;
let home: string;
const children: ChildProcess[] = [];

beforeAll(async () => {
  db = await createTestDatabase(MIGRATIONS);
  home = await mkdtemp(path.join(tmpdir(), 'slipway-worker-'));
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await db?.drop();
  await rm(home, { recursive: true, force: true });
});

class Worker {
  said = '';
  readonly ended: Promise<number | null>;
  readonly ready: Promise<unknown>;

  constructor(private readonly child: ChildProcess) {
    children.push(child);
    child.stderr?.on('data', (chunk) => (this.said += String(chunk)));
    this.ready = new Promise((resolve) => child.once('message', resolve));
    this.ended = new Promise((resolve) => child.once('exit', resolve));
  }

  static start(databaseUrl: string): Worker {
    return new Worker(
      fork(path.join(ROOT, 'apps/worker/src/main.ts'), {
        execArgv: ['--conditions=@slipway/source', '--import', '@swc-node/register/esm-register', '--no-warnings'],
        cwd: path.join(ROOT, 'apps/worker'),
        env: {
          PATH: process.env['PATH'],
          SWC_NODE_PROJECT: path.join(ROOT, 'tsconfig.base.json'),
          TS_NODE_PROJECT: path.join(ROOT, 'tsconfig.base.json'),
          DATABASE_URL: databaseUrl,
          SLIPWAY_HOME: home,
          SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
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
  readonly disconnect = () => this.child.disconnect();
}

it('says when it is ready, and ends by itself when its launcher is gone', async () => {
  const worker = Worker.start(db.url);
  await worker.isReady();
  worker.disconnect();
  expect(await worker.ended).toBe(0);
});

it('drains at SIGTERM', async () => {
  const worker = Worker.start(db.url);
  await worker.isReady();
  worker.terminate();
  expect(await worker.ended).toBe(0);
  expect(worker.said).toContain('stopping: SIGTERM');
});

it('refuses a schema that lacks migrations, and one that is newer than it knows', async () => {
  const old = await createTestDatabase(database);
  const newer = await createTestDatabase(MIGRATIONS);
  try {
    const owner = new pg.Client({ connectionString: newer.ownerUrl });
    await owner.connect();
    await owner.query(`insert into schema_migrations (timestamp, name) values (9999999999999, 'Future9999999999999')`);
    await owner.end();
    const workers = [Worker.start(old.url), Worker.start(newer.url)];
    expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([1, 1]);
    expect(workers[0]?.said).toMatch(/lacks \d+ migrations: run `npm run migrate`/);
    expect(workers[1]?.said).toContain('Future9999999999999');
  } finally {
    await old.drop();
    await newer.drop();
  }
});
