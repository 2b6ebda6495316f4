import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fastify, { type FastifyInstance } from 'fastify';
import { TOKENS_CHANNEL } from '@slipway/contracts';
import type { RequestGuard } from '@slipway/platform-http/auth';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { until } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { errors, type Principal, type SlipwayReply, type SlipwayRequest } from '@slipway/platform-http';
import { EventFeed } from './event-feed.js';
import { EventHub } from './event.hub.js';
import { EventList } from './event-list.js';
import { EventStreams } from './event-stream.js';
import { appendEvents } from './event.store.js';
import { migrations } from './index.js';
import { OpenAnswers } from './open-answers.js';
import { OpenStreamLimits } from './open-stream-limits.js';

const TENANT = newId('ten');
const PRINCIPAL: Principal = {
  tenantId: TENANT,
  tenantName: 'acme',
  isOperatorTenant: false,
  actor: { type: 'token', id: 'tok_1' },
  scopes: new Set(['viewer'] as const),
  owner: { type: 'person', id: 'alice' },
  minters: [],
};

let bed: DatabaseBed;
let server: FastifyInstance;
let streams: EventStreams;
let answers: OpenAnswers;
/** The result of the next check of the caller's credential. */
let refuse: () => Principal;
/** How many items of the endless answer of /lines were read, and the signal that ends it. */
let lines: { asked: number; ended: AbortSignal | undefined };
let stream: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations] });
  const list = new EventList(bed.database);
  answers = new OpenAnswers(bed.database);
  streams = new EventStreams(bed.database, new EventHub(bed.database), list, answers);
  const limits = new OpenStreamLimits({
    operator: { quotas: { event_streams_per_token: 1 } },
    rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
  });
  const feed = new EventFeed(list, streams, limits, answers, {
    authenticate: async () => refuse(),
  } as unknown as RequestGuard);
  server = fastify();
  server.get('/', async (request, reply) => {
    const slipway = { requestId: 'req', warnings: [], tenantId: TENANT, principal: PRINCIPAL };
    const client = {
      request: { headers: request.headers, slipway } as unknown as SlipwayRequest,
      reply: reply as unknown as SlipwayReply,
    };
    await feed.answer({ stream }, { order: 'asc' }, { limit: 50 }, client);
  });
  server.get('/lines', async (request, reply) => {
    const slipway = { requestId: 'req', warnings: [], tenantId: TENANT, principal: PRINCIPAL };
    const client = {
      request: { headers: request.headers, slipway } as unknown as SlipwayRequest,
      reply: reply as unknown as SlipwayReply,
    };
    await feed.stream(client, async (signal) => {
      lines.ended = signal;
      return endless(signal);
    });
  });
  server.setErrorHandler((error: any, _request, reply) => reply.code(error.status ?? 500).send({ code: error.code }));
  await server.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  await server?.close();
  await bed?.stop();
});
beforeEach(async () => {
  lines = { asked: 0, ended: undefined };
  refuse = () => PRINCIPAL;
  stream = `deployment/${newId('dep')}`;
  const event = { type: 'x', subject: 'deployments/chat', actor: PRINCIPAL.actor, data: {} };
  await bed.database.tx('system', (tx) => appendEvents(tx, TENANT, stream, [event, event, event]));
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function* endless(signal: AbortSignal): AsyncGenerator<{ type: string; data: unknown }> {
  while (!signal.aborted) {
    lines.asked += 1;
    yield { type: 'stdout', data: { text: 'x'.repeat(16_384) } };
  }
}

/** A client that requests the stream: its socket, and the status once the head of the answer has arrived. */
async function come(headers = '', path = '/'): Promise<{ socket: Socket; status: number }> {
  const { port } = server.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1', () =>
    socket.write(`GET ${path} HTTP/1.1\r\nHost: here\r\nAccept: text/event-stream\r\n${headers}\r\n`),
  );
  sockets.push(socket);
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  await until('an answer', () => text.includes('\r\n\r\n'));
  return { socket, status: Number(text.slice(9, 12)) };
}

async function expectNewStream(): Promise<void> {
  await until('the place is free', async () => (await come()).status === 200);
  expect((await come()).status).toBe(429);
}

it('frees a stream when its client disconnects', async () => {
  await until('the place is free', async () => (await come()).status === 200);
  expect((await come()).status).toBe(429);
  for (const socket of sockets.splice(0)) socket.destroy();
  await expectNewStream();
});

it('frees a stream when the server ends it', async () => {
  await until('the place is free', async () => (await come()).status === 200);
  answers.beforeApplicationShutdown();
  await expectNewStream();
});

it('frees a stream when it breaks', async () => {
  const read = bed.database.read.bind(bed.database);
  let broken = 0;
  jest.spyOn(bed.database, 'read').mockImplementation((...args) => {
    const isPage = JSON.stringify(args[1]).includes('order by');
    if (!isPage) return read(...args) as never;
    broken += 1;
    return Promise.reject(new Error('Postgres is away')) as never;
  });
  await until('the place is free', async () => (await come()).status === 200);
  await until('it broke', () => broken > 0);
  jest.restoreAllMocks();
  await expectNewStream();
});

it('does not count a stream that cannot begin', async () => {
  await bed.sql('delete from events where stream = $1 and sequence < 3', [stream]);
  await until('the place is free', async () => (await come('Last-Event-ID: 1\r\n')).status === 410);
  for (let n = 0; n < 3; n += 1) expect((await come('Last-Event-ID: 1\r\n')).status).toBe(410);
  await expectNewStream();
});

describe('a stream of data that is not stored', () => {
  it('reads no more than its client takes, and ends with the connection', async () => {
    const { socket } = await come('', '/lines');
    socket.pause();
    let [before, looks] = [-1, 0];
    await until('nothing more to be read', () => {
      looks = lines.asked === before ? looks + 1 : 0;
      before = lines.asked;
      return looks > 10;
    });
    // The limit covers the buffers of the two sockets; the memory of this process must stay bounded.
    expect(lines.asked * 16_384).toBeLessThan(16 * 1024 * 1024);
    expect(lines.ended?.aborted).toBe(false);
    socket.destroy();
    await until('its end', () => lines.ended?.aborted === true);
  });

  it('ends when the token is revoked, and counts as a stream of its caller until then', async () => {
    const { socket, status } = await come('', '/lines');
    socket.on('data', () => undefined);
    expect(status).toBe(200);
    expect((await come('', '/lines')).status).toBe(429);
    refuse = () => {
      throw errors.unauthenticated();
    };
    await bed.database.tx('system', (tx) =>
      tx.query(`select pg_notify('${TOKENS_CHANNEL}', $1)`, [PRINCIPAL.actor.id]),
    );
    await until('its end', () => lines.ended?.aborted === true);
  });
});

describe('a stream of large events', () => {
  const COUNT = 8;

  it('reaches its end, and continues live, although each event is larger than a reader may leave unread', async () => {
    await bed.sql(
      `insert into events (stream, sequence, tenant_id, id, type, subject, actor, data)
       select $1, 3 + n, $2, $1 || n, 'fat', 'deployments/chat', 'token:test', jsonb_build_object('fat', repeat('x', 1500000))
       from generate_series(1, ${COUNT}) n`,
      [stream, TENANT],
    );
    await bed.sql('update event_streams set last_sequence = $2 where stream = $1', [stream, 3 + COUNT]);
    // The limit is one stream, and the previous test's may still be closing.
    await until('the place is free', async () => (await come()).status === 200);
    const socket = sockets[sockets.length - 1]!;
    const ids: number[] = [];
    let rest = '';
    socket.on('data', (chunk) => {
      const lines = (rest + chunk.toString()).split('\n');
      rest = lines.pop()!;
      for (const line of lines) if (line.startsWith('id: ')) ids.push(Number(line.slice(4)));
    });
    await until('the last stored event', () => ids.includes(3 + COUNT));
    const event = { type: 'x', subject: 'deployments/chat', actor: PRINCIPAL.actor, data: {} };
    await bed.database.tx('system', (tx) => appendEvents(tx, TENANT, stream, [event]));
    await until('the live event', () => ids.includes(4 + COUNT));
    expect(socket.destroyed).toBe(false);
    expect(ids.slice(-COUNT)).toEqual(Array.from({ length: COUNT }, (_one, index) => index + 5));
  });
});
