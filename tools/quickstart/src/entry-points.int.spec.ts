import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { childEnvironment } from '@slipway/platform-config';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { MIGRATIONS } from '@slipway/registry';

jest.setTimeout(120_000);

const ENTRIES = {
  api: 'api/dist/main',
  worker: 'worker/dist/main',
  gateway: 'gateway/dist/main',
  migration: 'api/dist/migrate',
};
type Entry = keyof typeof ENTRIES;
const ALL = Object.keys(ENTRIES) as Entry[];

let folder: string;
let database: TestDatabase;
let squatter: net.Server;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-entries-'));
  database = await createTestDatabase(MIGRATIONS);
  squatter = net.createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(0, '127.0.0.1');
  await once(squatter, 'listening');
  port = (squatter.address() as net.AddressInfo).port;
});
afterAll(async () => {
  squatter.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs each entry alone, as a container does, to its end. */
async function ends(entries: Entry[], env: Record<string, string>): Promise<void[]> {
  return Promise.all(entries.map(async (entry) => end(entry, env)));
}

async function run(
  entry: Entry,
  env: Record<string, string | undefined>,
  heard: (text: string) => void = () => undefined,
): Promise<{ code: number; said: string }> {
  const main = fileURLToPath(new URL(`../../../apps/${ENTRIES[entry]}.js`, import.meta.url));
  const child = spawn(process.execPath, [main], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment({
      DATABASE_URL: database.url,
      SLIPWAY_MIGRATE_DATABASE_URL: undefined,
      REDIS_URL: undefined,
      NODE_ENV: undefined,
      NODE_OPTIONS: undefined,
      SLIPWAY_SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
      SLIPWAY_HOME: path.join(folder, entry),
      SLIPWAY_API_PORT: '0',
      SLIPWAY_GATEWAY_PORT: '0',
      ...env,
    }),
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      said += String(chunk);
      heard(said);
    });
  const [code] = (await once(child, 'close')) as [number];
  return { code, said };
}

async function end(entry: Entry, env: Record<string, string>): Promise<void> {
  const { MESSAGE, ...rest } = env;
  const { code, said } = await run(entry, rest);
  expect(said.trim().split('\n').at(-1)).toBe(`Slipway ${entry} cannot start: ${MESSAGE}`);
  expect(said).not.toMatch(/\n\s+at /);
  expect(code).toBe(78);
}

it('a home that cannot be written ends api, worker and gateway, and the message names its variable', async () => {
  await ends(['api', 'worker', 'gateway'], {
    SLIPWAY_HOME: '/proc/x',
    MESSAGE:
      'SLIPWAY_HOME: cannot write to /proc/x (the system does not allow creating it). Set SLIPWAY_HOME to a writable folder.',
  });
});

it('a password that Postgres refuses ends all processes', async () => {
  const url = new URL(database.url);
  url.password = 'wrong';
  await ends(ALL, {
    DATABASE_URL: url.href,
    MESSAGE: `DATABASE_URL: Postgres at ${url.host} rejected the password of user slipway_app. Correct DATABASE_URL.`,
  });
});

it('a server that is not Postgres ends all processes, in production too', async () => {
  await ends(ALL, {
    NODE_ENV: 'production',
    DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/x`,
    MESSAGE: `DATABASE_URL: the server at 127.0.0.1:${port} is not Postgres. Correct DATABASE_URL.`,
  });
});

it('a server that is not Redis ends the worker, which alone uses it', async () => {
  await ends(['worker'], {
    REDIS_URL: `redis://127.0.0.1:${port}`,
    MESSAGE: `REDIS_URL: the server at 127.0.0.1:${port} is not Redis. Correct REDIS_URL.`,
  });
});

it('a port that is taken ends each process that needs it', async () => {
  const taken = (variable: string): Record<string, string> => ({
    [variable]: String(port),
    MESSAGE: `${variable}: port ${port} is taken by another program. Free it, or set ${variable} to another one.`,
  });
  await end('api', taken('SLIPWAY_API_PORT'));
  await end('gateway', taken('SLIPWAY_GATEWAY_PORT'));
  await end('worker', taken('SLIPWAY_METRICS_PORT'));
});

it('processes that start before Postgres wait for it, and continue when it starts', async () => {
  const real = new URL(database.url);
  const late = net.createServer((socket) => {
    const through = net.connect(Number(real.port), real.hostname);
    socket.pipe(through).pipe(socket);
    for (const one of [socket, through]) one.on('error', () => one.destroy());
  });
  late.listen(0, '127.0.0.1');
  await once(late, 'listening');
  const free = (late.address() as net.AddressInfo).port;
  late.close();
  await once(late, 'close');

  const owner = new URL(database.ownerUrl);
  owner.host = `127.0.0.1:${free}`;
  const app = new URL(database.url);
  app.host = owner.host;
  const env = { DATABASE_URL: app.href, SLIPWAY_MIGRATE_DATABASE_URL: owner.href };
  const { code, said } = await run('migration', env, (text) => {
    if (text.includes('Waiting for it for up to 20 s.') && !late.listening) late.listen(free, '127.0.0.1');
  });
  late.close();
  expect(said).toContain(`SLIPWAY_MIGRATE_DATABASE_URL: nothing listens on 127.0.0.1:${free} (connection refused).`);
  expect(said).toContain('nothing to migrate');
  expect(code).toBe(0);
});
