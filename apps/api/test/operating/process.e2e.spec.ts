import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort, type TestDatabase } from '@slipway/platform-database/testing';
import { Slipway } from '@slipway/sdk';
import { productDatabase } from '../harness/product-database.js';

/** The built entry points, as a launcher runs them. */
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const MIGRATE = fileURLToPath(new URL('../../dist/migrate.js', import.meta.url));

/** The api cuts open connections after this time. */
const DRAIN_MS = 10_000;
const TOKEN = `slw_process00001_${'p'.repeat(43)}`;

let database: TestDatabase;
let port: number;
const children: ChildProcess[] = [];

beforeEach(async () => {
  database = await productDatabase();
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

/** Reads the raw bytes: the client would silently reconnect when a stream ends. */
async function eventsOf(deployment: string): Promise<ReadableStreamDefaultReader<string>> {
  const { body } = await fetch(`http://127.0.0.1:${port}/api/v1/deployments/${deployment}/events`, {
    headers: { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream' },
  });
  return body!.pipeThrough(new TextDecoderStream()).getReader();
}

/** Returns undefined if no process listens. */
async function statusOf(path: string): Promise<number | undefined> {
  return (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.status;
}

/** Returns the rest of a stream up to its end; a connection that breaks is no end. */
async function endOf(reader: ReadableStreamDefaultReader<string>): Promise<string> {
  for (let text = ''; ;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += value;
  }
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
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

it('reports when it listens', async () => {
  const { child } = start(MAIN);
  await ready(child);
  expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200);
});

it('at SIGTERM answers open requests, ends its event streams, accepts nothing more, and exits', async () => {
  const { child, exit, stderr } = start(MAIN, { SLIPWAY_BOOTSTRAP_TOKEN: TOKEN });
  await ready(child);
  const { deployments } = new Slipway({ baseUrl: `http://127.0.0.1:${port}`, token: TOKEN, maxRetries: 0 });
  await deployments.create({ name: 'chat' });
  const told = await eventsOf('chat');
  for (let text = ''; !text.includes('deployment.created');) text += (await told.read()).value;

  await withOwner(async (owner) => {
    // Every request for a deployment waits until this transaction ends.
    await owner.query('begin; lock table deployments in access exclusive mode');
    let made: string | undefined;
    const asked = deployments.create({ name: 'slow' }).then(({ name }) => (made = name));
    await until('the request to wait in Postgres', async () => {
      const waiting = await owner.query(
        `select 1 from pg_locks where not granted and relation = 'deployments'::regclass`,
      );
      return waiting.rows.length > 0;
    });
    child.kill('SIGTERM');
    await until('it to be stopping', async () => stderr().includes('stopping: SIGTERM'));
    // A launcher and a terminal may both send it.
    child.kill('SIGTERM');
    // The end of the stream, not a broken connection: its client returns with its Last-Event-ID.
    await endOf(told);
    await until('it to take nothing more', async () => (await statusOf('/healthz')) !== 200);
    expect([made, child.exitCode]).toEqual([undefined, null]);
    await owner.query('commit');
    expect(await asked).toBe('slow');
  });
  const answered = Date.now();
  expect(await exit).toBe(0);
  // Only idle connections were open, so nothing had to be cut.
  expect(Date.now() - answered).toBeLessThan(DRAIN_MS / 2);
  await withOwner(async (owner) => {
    expect((await owner.query(`select name from deployments order by name`)).rows).toEqual([
      { name: 'chat' },
      { name: 'slow' },
    ]);
  });
  for (const line of stderr().trim().split('\n'))
    expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), service: 'api' });
});

it('stops when its launcher is gone', async () => {
  const { child, exit } = start(MAIN);
  await ready(child);
  child.disconnect();
  expect(await exit).toBe(0);
});

it('serves with a schema of a newer version, and refuses in one line an incompatible schema or one that lacks a migration', async () => {
  const future = 'Future1999999999999';
  await withOwner((client) =>
    client.query(`insert into schema_migrations (timestamp, name) values (1999999999999, '${future}')`),
  );
  const newer = start(MAIN);
  await ready(newer.child);
  newer.child.kill('SIGTERM');
  expect(await newer.exit).toBe(0);

  await withOwner((client) => client.query(`insert into schema_breaks values ('${future}', 'Staged1999999999998')`));
  const broken = start(MAIN);
  expect(await broken.exit).toBe(78);
  expect(broken.stderr()).toMatch(
    /^Slipway api cannot start: .* newer version .*\(Future1999999999999\): run the newer version.*\n$/,
  );

  await withOwner((client) =>
    client.query(`delete from schema_migrations where timestamp in (1999999999999, 1700000000024)`),
  );
  const older = start(MAIN);
  expect(await older.exit).toBe(78);
  expect(older.stderr()).toBe('Slipway api cannot start: the database lacks a migration: run `npm run migrate`\n');
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
