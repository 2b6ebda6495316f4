import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '@slipway/platform-database/testing';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-testing';
import { MIGRATIONS } from '@slipway/registry';

/** The built entry points, as a launcher runs them. */
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const MIGRATE = fileURLToPath(new URL('../dist/migrate.js', import.meta.url));

let database: TestDatabase;
let port: number;
const children: ChildProcess[] = [];

beforeEach(async () => {
  database = await createTestDatabase(MIGRATIONS);
  port = await freePort();
});

afterEach(async () => {
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
  await database.drop();
});

function start(
  file: string,
  env: Record<string, string> = {},
): { child: ChildProcess; stderr: () => string; exit: Promise<number | null> } {
  const child = fork(file, {
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: [],
    env: {
      PATH: process.env['PATH'],
      DATABASE_URL: database.url,
      SLIPWAY_MIGRATE_DATABASE_URL: database.ownerUrl,
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      SLIPWAY_API_PORT: String(port),
      ...env,
    },
  });
  children.push(child);
  let text = '';
  child.stderr!.on('data', (chunk) => (text += String(chunk)));
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  return { child, stderr: () => text, exit };
}

async function ready(child: ChildProcess): Promise<void> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => [`exit ${code}`]),
  ]);
  expect(message).toBe('slipway:ready');
}

async function withOwner(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
  await work(client);
  await client.end();
}

it('says when it listens, and drains on SIGTERM', async () => {
  const { child, exit, stderr } = start(MAIN);
  await ready(child);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
  for (const line of stderr().trim().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), service: 'api' });
});

it('stops when its launcher is gone', async () => {
  const { child, exit } = start(MAIN);
  await ready(child);
  child.disconnect();
  expect(await exit).toBe(0);
});

it('refuses a schema that a newer version made, and one that was not migrated', async () => {
  await withOwner((client) =>
    client.query(`insert into schema_migrations (timestamp, name) values (1999999999999, 'Future1999999999999')`),
  );
  const newer = start(MAIN);
  expect(await newer.exit).toBe(1);
  expect(newer.stderr()).toContain('Future1999999999999');
  await withOwner((client) =>
    client.query(`delete from schema_migrations where timestamp in (1999999999999, 1700000000024)`),
  );
  const older = start(MAIN);
  expect(await older.exit).toBe(1);
  expect(older.stderr()).toContain('npm run migrate');
});

it('names every wrong setting and exits with 78', async () => {
  const { exit, stderr } = start(MAIN, { SLIPWAY_API_PORT: 'x', SLIPWAY_SECRET_KEY: 'short' });
  expect(await exit).toBe(78);
  expect(stderr()).toContain('SLIPWAY_API_PORT');
  expect(stderr()).toContain('SLIPWAY_SECRET_KEY');
});

it('migrates and exits, and has nothing to do the second time', async () => {
  const { child, exit } = start(MIGRATE);
  let text = '';
  child.stdout!.on('data', (chunk) => (text += String(chunk)));
  expect(await exit).toBe(0);
  expect(text).toBe('nothing to migrate\n');
});
