import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { configOf, MIGRATIONS, startApp } from './sandbox-app.js';
import { clientOf, eventually, newTenant, type SandboxClient } from './tenants.js';

const IDLE_TIMEOUT_MS = 3_000;
/** Far below the 30 seconds that a push may take altogether. */
const GIVEN_UP_WITHIN_MS = IDLE_TIMEOUT_MS + 12_000;

let testDatabase: TestDatabase;
let folder: string;
let app: NestFastifyApplication;
let send: SandboxClient;
let database: Database;
/** Milliseconds that each connection of a sandbox was open, by sandbox. */
const held: number[][] = [];
const stops: (() => void)[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase(MIGRATIONS);
  folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-stalled-sandbox-'));
  const upload = { maxBytes: 1 << 20, workspaceStore: `file:${folder}`, s3: { region: 'x' } };
  const started = await startApp(configOf(testDatabase.url, { upload }), IDLE_TIMEOUT_MS);
  app = started.app;
  database = app.get(Database, { strict: false });
  send = clientOf(started.origin, (await newTenant(app)).token);
});

afterAll(async () => {
  for (const stop of stops) stop();
  await app?.close();
  await testDatabase?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

/** Starts a sandbox that accepts connections and never completes an answer. Returns its URL. */
async function hang(serve: (socket: Socket) => void): Promise<string> {
  const sockets: Socket[] = [];
  const times: number[] = [];
  held.push(times);
  const server = createServer((socket) => {
    const from = performance.now();
    sockets.push(socket.on('error', () => undefined).once('close', () => times.push(performance.now() - from)));
    serve(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Uploads a file to a reference with that URL. Returns the operation that pushes it. */
async function push(base_url: string): Promise<string> {
  const reference = await send('POST', '/sandboxes/references', {
    json: { provider: 'custom', base_url, external_id: 'ext-1', credential: 'x' },
  });
  expect(reference.status).toBe(201);
  const file = await send('PUT', `/sandboxes/${reference.body.sandbox_id}/files?path=a`, { body: 'x' });
  return file.body.sync_operation_id;
}

it('pushes to sandboxes that hang end within the idle time-out, and sleep until the next try', async () => {
  const hanging = await Promise.all([
    hang((socket) => void socket.resume()),
    hang((socket) => void socket.resume().once('data', () => socket.write('H'))),
  ]);
  const operations = await Promise.all(hanging.map(push));
  const sleeps = (operationId: string) =>
    eventually(
      async () =>
        (
          await database.read(
            'system',
            `select 1 from operation_steps where operation_id = $1 and message like 'Attempt 1 failed: %UND_ERR_HEADERS_TIMEOUT%'`,
            [operationId],
          )
        ).length === 1,
      `${operationId} sleeps`,
      GIVEN_UP_WITHIN_MS + 10_000,
    );
  await Promise.all(operations.map(sleeps));
  await eventually(async () => held.every(({ length }) => length > 0), 'both connections are closed');
  const firsts = held.map(([first]) => first!);
  console.log(`pushes that hang were held for ${firsts.map(Math.ceil).join(' and ')} ms`);
  expect(Math.max(...firsts)).toBeLessThan(GIVEN_UP_WITHIN_MS);
}, 120_000);
