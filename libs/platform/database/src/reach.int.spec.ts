import { once } from 'node:events';
import { createServer } from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrations } from './index.js';
import { postgresFault } from './reach.js';
import { createTestDatabase, type TestDatabase } from './testing/index.js';

let database: TestDatabase;
let address: string;
const servers: net.Server[] = [];

beforeAll(async () => {
  database = await createTestDatabase(migrations);
  address = new URL(database.url).host;
});
afterAll(async () => {
  for (const server of servers) server.close();
  await database.drop();
});

const listening = async (server: net.Server): Promise<string> => {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
};
const changed = (change: (url: URL) => void): string => {
  const url = new URL(database.url);
  change(url);
  return url.href;
};

it('finds no fault in a Postgres that accepts the user', async () => {
  expect(await postgresFault(database.url)).toBeUndefined();
});

it('reports each mistake in an address, and what to do', async () => {
  const told = async (url: string, variable?: string) => (await postgresFault(url, variable))?.text;
  expect(await told(changed((url) => (url.password = 'wrong')))).toBe(
    `Postgres at ${address} rejected the password of user slipway_app. Correct DATABASE_URL.`,
  );
  expect(
    await told(
      changed((url) => (url.username = 'nobody')),
      'SLIPWAY_GATEWAY_DATABASE_URL',
    ),
  ).toBe(`Postgres at ${address} rejected the password of user nobody. Correct SLIPWAY_GATEWAY_DATABASE_URL.`);
  expect(await told(changed((url) => (url.password = '')))).toBe(
    `Postgres at ${address} requires a password for user slipway_app. Add it to DATABASE_URL.`,
  );
  expect(await told(changed((url) => (url.pathname = '/nosuch')))).toBe(
    `Postgres at ${address} has no database nosuch. Create it, or correct DATABASE_URL.`,
  );
  expect(await told(changed((url) => (url.search = '?sslmode=require')))).toBe(
    `TLS with Postgres at ${address} failed (The server does not support SSL connections). Correct sslmode in DATABASE_URL.`,
  );
  expect(await told('postgres://us%E9r:p@127.0.0.1/x')).toBe(
    'the URL is invalid (URI malformed). Correct DATABASE_URL: percent-encode special characters of the user name and the password.',
  );
  expect(await postgresFault('postgres://nowhere..example/x')).toEqual({
    kind: 'unknown_host',
    text: 'the host of nowhere..example:5432 is unknown. Correct DATABASE_URL.',
  });
});

it('detects a server that is not Postgres, whether it answers, closes or is silent', async () => {
  const http = await listening(createServer((_, response) => response.end('hi')));
  expect(await postgresFault(`postgres://u:p@${http}/x`)).toEqual({
    kind: 'refused',
    text: `the server at ${http} is not Postgres. Correct DATABASE_URL.`,
  });
  const closing = await listening(net.createServer((socket) => socket.destroy()));
  const silent = await listening(net.createServer(() => undefined));
  for (const mute of [closing, silent])
    expect(await postgresFault(`postgres://u:p@${mute}/x`)).toEqual({
      kind: 'away',
      text: `${mute} accepts the connection but does not respond like Postgres. Start Postgres there, or correct DATABASE_URL.`,
    });
}, 30_000);

it('a port without a listener counts as a Postgres that may still start', async () => {
  const server = net.createServer();
  const free = await listening(server);
  server.close();
  expect(await postgresFault(`postgres://u:p@${free}/x`)).toEqual({
    kind: 'away',
    text: `nothing listens on ${free} (connection refused). Start the server there, or correct DATABASE_URL.`,
  });
});
