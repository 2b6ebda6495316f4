import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { connect, type AddressInfo, type Socket } from 'node:net';
import fastify, { type FastifyInstance } from 'fastify';
import pg from 'pg';
import { newId } from '@slipway/platform-database';
import { beside } from '@slipway/platform-database/testing';
import {
  appendEvents,
  EventHub,
  EventStreams,
  OpenAnswers,
  type EventSource,
  type NewEvent,
} from '../../src/events/index.js';
import type { OperationDefinition } from '../../src/operations/index.js';
import { claimOf, until } from './probe.js';
import { OperationHarness, platformMigrations } from '../../src/operations/testing/index.js';

const TENANT = newId('ten');
const HEARTBEAT_MS = 15_000;

let harness: OperationHarness;
let server: FastifyInstance;
let port: number;
/** The source that the next stream is opened with. */
let source: EventSource;
let isAllowed = true;
let tokenId: string | undefined;
/** The server's ends of the connections, newest last. */
const sockets: Socket[] = [];

beforeAll(async () => {
  // Heartbeats come when a test decides.
  const names = ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
  jest.useFakeTimers({ doNotFake: [...names, 'setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] });
  harness = await OperationHarness.start({ migrations: platformMigrations });
  const streams = harness.context.get(EventStreams);
  server = fastify();
  server.get('/', async (request, reply) => {
    const { after, type } = request.query as { after?: string; type?: string };
    await streams.open({
      reply,
      tenantId: TENANT,
      source,
      types: type === undefined ? undefined : [type],
      after: after === undefined ? undefined : Number(after),
      tokenId,
      stillAllowed: async () => isAllowed,
    });
  });
  server.setErrorHandler((error: any, _request, reply) => reply.code(error.status ?? 500).send({ code: error.code }));
  await server.listen({ port: 0, host: '127.0.0.1' });
  port = (server.server.address() as AddressInfo).port;
  server.server.on('connection', (socket: Socket) => sockets.push(socket));
});
afterAll(async () => {
  await harness?.stop();
  await server?.close();
  jest.useRealTimers();
});

beforeEach(() => {
  source = { stream: `deployment/${newId('dep')}` };
  isAllowed = true;
  tokenId = 'tok_1';
});

const followers: Follower[] = [];
afterEach(() => {
  for (const follower of followers.splice(0)) follower.socket.destroy();
});

/** A client that stores what it receives. */
class Follower {
  text = '';
  isClosed = false;
  readonly socket: Socket;

  constructor(query = '') {
    this.socket = connect(port, '127.0.0.1', () => this.socket.write(`GET /${query} HTTP/1.1\r\nHost: here\r\n\r\n`));
    this.socket.on('data', (chunk) => (this.text += chunk.toString()));
    this.socket.on('error', () => (this.isClosed = true));
    this.socket.on('close', () => (this.isClosed = true));
    followers.push(this);
  }

  get ids(): number[] {
    return [...this.text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  }

  get hasEnded(): boolean {
    return this.isClosed || this.text.includes('\r\n0\r\n\r\n');
  }
}

function event(data: Record<string, unknown> = {}, options: Partial<NewEvent> = {}): NewEvent {
  return { type: 'route.updated', subject: 'deployments/chat', actor: { type: 'token', id: 'test' }, data, ...options };
}

const append = (...events: NewEvent[]) =>
  harness.database.tx('system', (tx) => appendEvents(tx, TENANT, source.stream, events));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

it('sends the stored events, then the new ones, each once and in order', async () => {
  await append(...upTo(450).map((n) => event({ n })));
  const follower = new Follower();
  await until('the backlog', () => follower.ids.length === 450);
  for (const n of [451, 452, 453]) await append(event({ n }));
  await until('the live ones', () => follower.ids.length >= 453);
  expect(follower.ids).toEqual(upTo(453));
  expect(follower.text).toMatch(/content-type: text\/event-stream/i);
  const [, data] = /id: 451\nevent: route\.updated\ndata: (.*)\n\n/.exec(follower.text) as unknown as [string, string];
  expect(JSON.parse(data)).toMatchObject({
    specversion: '1.0',
    sequence: 451,
    type: 'route.updated',
    data: { n: 451 },
  });
});

it('loses and repeats nothing while there are many writers and clients that connect in between', async () => {
  const writers = upTo(20).map(async () => {
    for (const n of upTo(5)) await append(event({ n }));
  });
  const early = new Follower();
  await until('the first of them', () => early.ids.length > 10);
  const late = new Follower(`?after=${early.ids[4]}`);
  await Promise.all(writers);
  await until('all of them', () => early.ids.length >= 100 && late.ids.length >= 95);
  expect(early.ids).toEqual(upTo(100));
  expect(late.ids).toEqual(upTo(100).slice(5));
});

it('resumes after a sequence, and refuses one whose next events are deleted', async () => {
  await append(...upTo(10).map((n) => event({ n })));
  await harness.database.tx('system', (tx) =>
    tx.query('delete from events where stream = $1 and sequence <= 5', [source.stream]),
  );
  const kept = new Follower('?after=5');
  await until('the rest', () => kept.ids.length === 5);
  expect(kept.ids).toEqual([6, 7, 8, 9, 10]);
  const lost = new Follower('?after=4');
  await until('an answer', () => lost.text.includes('\r\n\r\n'));
  expect(lost.text).toMatch(/^HTTP\/1\.1 410/);
  expect(lost.text).toContain('cursor_expired');
});

it('disconnects a client whose next events are deleted while it reads the backlog, and refuses its resume', async () => {
  const tail = upTo(450).map((n) => event({ n }));
  await append(...tail);
  const read = harness.database.read.bind(harness.database);
  let pages = 0;
  jest.spyOn(harness.database, 'read').mockImplementation(async (...args) => {
    if (JSON.stringify(args[1]).includes('order by') && (pages += 1) === 2)
      await beside(() =>
        harness.database.tx('system', (tx) =>
          tx.query('delete from events where stream = $1 and sequence <= 400', [source.stream]),
        ),
      );
    return read(...args) as never;
  });
  const follower = new Follower();
  await until('its end', () => follower.hasEnded);
  jest.restoreAllMocks();
  expect(follower.ids).toEqual(upTo(200));
  const again = new Follower('?after=200');
  await until('an answer', () => again.text.includes('\r\n\r\n'));
  expect(again.text).toMatch(/^HTTP\/1\.1 410/);
});

it('refuses a position before the newest event if no other event is left', async () => {
  await append(...upTo(10).map((n) => event({ n })));
  await harness.database.tx('system', (tx) =>
    tx.query('delete from events where stream = $1 and sequence < 10', [source.stream]),
  );
  const lost = new Follower('?after=8');
  await until('an answer', () => lost.text.includes('\r\n\r\n'));
  expect(lost.text).toMatch(/^HTTP\/1\.1 410/);
  const kept = new Follower('?after=9');
  await until('the newest', () => kept.ids.length === 1);
  expect(kept.ids).toEqual([10]);
});

it('sends only the requested type, before and after the stream is live', async () => {
  await append(event(), event({}, { type: 'revision.ready' }));
  const follower = new Follower('?type=revision.ready');
  await until('the kept one', () => follower.ids.length === 1);
  await append(event(), event({}, { type: 'revision.ready' }));
  await until('the new one', () => follower.ids.length === 2);
  expect(follower.ids).toEqual([2, 4]);
});

it('checks a caller without a token again at each revocation', async () => {
  tokenId = undefined;
  const follower = new Follower();
  await append(event());
  await until('it is live', () => follower.ids.length === 1);
  isAllowed = false;
  await harness.database.tx('system', (tx) => tx.query(`select pg_notify('slipway_tokens', 'tok_9')`));
  await until('it ends', () => follower.hasEnded);
});

it('ends if its caller lost the access before it began, which no notification reports to it', async () => {
  isAllowed = false;
  const follower = new Follower();
  await until('it ends', () => follower.hasEnded);
  expect(follower.text).toContain('text/event-stream');
});

it('checks the caller again when it may have missed a revocation', async () => {
  const follower = new Follower();
  await append(event());
  await until('it is live', () => follower.ids.length === 1);
  isAllowed = false;
  const owner = new pg.Client({ connectionString: harness.testDatabase.ownerUrl });
  await owner.connect();
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'slipway-listen'`,
  );
  await owner.end();
  await until('it ends', () => follower.hasEnded);
});

it('sends heartbeats while nothing happens, and checks the caller again with each one', async () => {
  const follower = new Follower();
  await append(event());
  await until('it is live', () => follower.ids.length === 1);
  expect(follower.text).not.toContain(': heartbeat');
  jest.advanceTimersByTime(HEARTBEAT_MS);
  await until('a beat', () => follower.text.includes(': heartbeat\n\n'));
  expect(follower.hasEnded).toBe(false);
  isAllowed = false;
  jest.advanceTimersByTime(HEARTBEAT_MS);
  await until('it ends', () => follower.hasEnded);
});

it('sends the backlog as fast as its client reads, and does not disconnect a client that reads slowly', async () => {
  const load = 'x'.repeat(4_000);
  const count = 3_000;
  for (let n = 0; n < count; n += 500) await append(...upTo(500).map(() => event({ load })));
  const before = sockets.length;
  const follower = new Follower();
  follower.socket.pause();
  await until('the server waits for its client', () => (sockets[before]?.writableLength ?? 0) > 0);
  follower.socket.resume();
  await until('all of it', () => follower.isClosed || follower.ids.length === count);
  expect(follower.ids).toEqual(upTo(count));
  await append(event());
  await until('what comes', () => follower.ids.length === count + 1);
});

it("ends at once when the caller's own token is revoked, not when another token is", async () => {
  const follower = new Follower();
  await append(event());
  await until('it is live', () => follower.ids.length === 1);
  isAllowed = false;
  const notify = (tokenId: string) =>
    harness.database.tx('system', (tx) => tx.query(`select pg_notify('slipway_tokens', $1)`, [tokenId]));
  await notify('tok_2');
  await append(event());
  await until('it goes on', () => follower.ids.length === 2);
  expect(follower.hasEnded).toBe(false);
  await notify('tok_1');
  await until('it ends', () => follower.hasEnded);
});

it('disconnects a client that does not read, and keeps the others', async () => {
  const slow = new Follower();
  const quick = new Follower();
  await append(event());
  await until('both are live', () => slow.ids.length === 1 && quick.ids.length === 1);
  slow.socket.pause();
  // Nearly as large as the data of an event may be.
  const load = 'x'.repeat(60_000);
  const wasCut = async () =>
    (await new Promise<number>((resolve) => server.server.getConnections((_error, count) => resolve(count)))) === 1;
  let sent = 1;
  await until('the slow one is cut', async () => {
    await append(event({ load }));
    sent += 1;
    return wasCut();
  });
  await until('the quick one has all', () => quick.ids.length === sent);
});

const KIND: OperationDefinition = { kind: 'probe', steps: ['only'], unwind: {} };

/** The events of one operation, which end with the operation. */
const about = (id: string) => ({
  id,
  hasEnded: async () => {
    const [row] = await harness.database.read<{ status: string }>(
      'system',
      'select status from operations where id = $1',
      [id],
    );
    return ['succeeded', 'failed', 'cancelled'].includes(row!.status);
  },
});

it('follows one operation only, and ends after its last event', async () => {
  const { stream } = source;
  const [mine, other] = (await Promise.all(
    [1, 2].map(() =>
      harness.database.tx({ tenantId: TENANT }, async (tx) => {
        const { id } = await harness.store.claim(tx, claimOf(KIND));
        await harness.store.start(tx, { id, operation: KIND, resourceId: 'thing', stream, input: {}, steps: ['only'] });
        return id;
      }),
    ),
  )) as [string, string];
  source = { stream, operation: about(mine) };
  await append(event({}, { operationId: other }), event({}, { operationId: mine }), event());
  const follower = new Follower();
  await until('the kept one', () => follower.ids.length === 1);
  await append(event({}, { operationId: other }), event({}, { operationId: mine }));
  await until('the new one', () => follower.ids.length === 2);
  await harness.database.tx('system', async (tx) => {
    await tx.query(`update operations set status = 'succeeded' where id = $1`, [mine]);
    await appendEvents(tx, TENANT, stream, [
      event({ status: 'succeeded' }, { type: 'operation.status_changed', operationId: mine }),
    ]);
  });
  await until('it ends', () => follower.hasEnded);
  expect(follower.ids).toEqual([2, 5, 6]);
  const latecomer = new Follower('?after=2');
  await until('it ends too', () => latecomer.hasEnded);
  expect(latecomer.ids).toEqual([5, 6]);
});

it('ends for a client that follows one type of an ended operation, too', async () => {
  const id = await harness.begin(TENANT, KIND, {});
  source = { stream: `operation/${id}`, operation: about(id) };
  await append(event({}, { operationId: id }), event({}, { operationId: id, type: 'revision.ready' }));
  await append(event({}, { operationId: id }), event({}, { operationId: id }));
  await harness.database.tx('system', (tx) =>
    tx.query(`update operations set status = 'succeeded' where id = $1`, [id]),
  );
  const follower = new Follower('?type=revision.ready');
  await until('it ends', () => follower.hasEnded);
  expect(follower.ids).toEqual([2]);
});

it('keeps nothing for a client that has disconnected', async () => {
  const kept = () => {
    const hub = harness.context.get(EventHub) as unknown as { tails: Map<string, unknown>; closers: Set<unknown> };
    const { answers } = harness.context.get(OpenAnswers) as unknown as { answers: Set<unknown> };
    return [hub.tails.size, hub.closers.size, answers.size, jest.getTimerCount()];
  };
  await until('those of before have gone', () => kept()[2] === 0);
  const before = kept();
  const isMore = (by: number) => kept().every((count, index) => count === before[index]! + by);
  const follower = new Follower();
  await until('it is live', () => isMore(1));
  follower.socket.destroy();
  await until('it is forgotten', () => isMore(0));
});

it('ends with the process', async () => {
  const follower = new Follower();
  await append(event());
  await until('it is live', () => follower.ids.length === 1);
  harness.context.get(OpenAnswers).beforeApplicationShutdown();
  await until('it ends', () => follower.hasEnded);
});

it('does not end at a failure that a retry has undone', async () => {
  const id = await harness.begin(TENANT, KIND, {});
  source = { stream: `operation/${id}`, operation: about(id) };
  await append(
    event({ status: 'failed' }, { type: 'operation.status_changed', operationId: id }),
    event({ status: 'pending' }, { type: 'operation.status_changed', operationId: id }),
  );
  const follower = new Follower();
  await until('both', () => follower.ids.length === 2);
  await append(event({ status: 'running' }, { type: 'operation.status_changed', operationId: id }));
  await until('what came after', () => follower.ids.length === 3);
  expect(follower.hasEnded).toBe(false);
});
