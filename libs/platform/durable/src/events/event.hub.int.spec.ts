import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { holdIntervals, Latch, until } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import type { WakeableTask } from '../scheduling/index.js';
import { migrations } from './index.js';
import { EventHub, type EventWatcher } from './event.hub.js';
import { appendEvents } from './event.store.js';

const TENANT = newId('ten');
const ACTOR = { type: 'token', id: 'test' } as const;

let bed: DatabaseBed;
let hub: EventHub;
let stream: string;
let stops: (() => void)[];

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations] });
});
afterAll(() => bed?.stop());
beforeEach(() => {
  hub = new EventHub(bed.database);
  stream = `deployment/${newId('dep')}`;
  stops = [];
});
afterEach(() => {
  for (const stop of stops) stop();
  jest.restoreAllMocks();
});

/** A watcher that records the sequences that it receives. */
class Reader implements EventWatcher {
  readonly seen: number[] = [];
  isClosed = false;

  constructor(
    readonly stream: string,
    public cursor = 0,
  ) {}

  deliver(event: { sequence: string }): void {
    this.seen.push(Number(event.sequence));
  }
}
async function watching(reader: Reader): Promise<Reader> {
  stops.push(await hub.watch(reader, () => (reader.isClosed = true)));
  return reader;
}
const append = (count = 1, into = stream) => {
  const event = { type: 'x', subject: 'deployments/chat', actor: ACTOR, data: {} };
  return bed.database.tx('system', (tx) =>
    appendEvents(
      tx,
      TENANT,
      into,
      Array.from({ length: count }, () => event),
    ),
  );
};
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

it('sends a watcher the events after its cursor, page by page, then the new ones', async () => {
  await append(450);
  const [fresh, resumed] = [await watching(new Reader(stream)), await watching(new Reader(stream, 440))];
  await until('the backlog', () => fresh.seen.length === 450 && resumed.seen.length === 10);
  await append(3);
  await until('what comes', () => fresh.seen.length >= 453 && resumed.seen.length >= 13);
  expect(fresh.seen).toEqual(upTo(453));
  expect(resumed.seen).toEqual(upTo(453, 441));
  expect(fresh.cursor).toBe(453);
});

it('sends a batch that is larger than a page to all watchers, once and in order', async () => {
  const readers = [await watching(new Reader(stream)), await watching(new Reader(stream))];
  await append(450);
  await until('the batch', () => readers.every((reader) => reader.seen.length >= 450));
  for (const reader of readers) expect(reader.seen).toEqual(upTo(450));
});

it('keeps streams apart', async () => {
  const other = `${stream}-other`;
  const [one, another] = [await watching(new Reader(stream)), await watching(new Reader(other))];
  await append(1, other);
  await append(2);
  await until('both have theirs', () => one.seen.length === 2 && another.seen.length === 1);
  expect([one.seen, another.seen]).toEqual([[1, 2], [1]]);
});

it('reads once for all watchers', async () => {
  const readers = await Promise.all(upTo(20).map(() => watching(new Reader(stream))));
  await until('nothing is read', () => isIdle());
  const reads = jest.spyOn(bed.database, 'read');
  await append();
  await until('all have it', () => readers.every((reader) => reader.seen.length === 1));
  expect(reads).toHaveBeenCalledTimes(1);
});

it('misses no event that is appended between the read of the pages and the join', async () => {
  const read = bed.database.read.bind(bed.database);
  const paged = new Latch();
  const appended = new Latch();
  jest.spyOn(bed.database, 'read').mockImplementationOnce(async (...args) => {
    const rows = await read(...args);
    paged.resolve();
    await appended.promise;
    return rows as never;
  });
  const reader = new Reader(stream);
  const joining = watching(reader);
  await paged.promise;
  // Its notification finds no watcher yet.
  await append();
  await notified();
  appended.resolve();
  await joining;
  await until('it has it', () => reader.seen.length === 1);
});

it('lets a watcher join that is behind a tail which has advanced meanwhile', async () => {
  const early = await watching(new Reader(stream));
  const read = bed.database.read.bind(bed.database);
  const paged = new Latch();
  const goOn = new Latch();
  jest.spyOn(bed.database, 'read').mockImplementationOnce(async (...args) => {
    const rows = await read(...args);
    paged.resolve();
    await goOn.promise;
    return rows as never;
  });
  const late = new Reader(stream);
  const joining = watching(late);
  await paged.promise;
  await append(3);
  await until('the early one is ahead', () => early.seen.length === 3);
  goOn.resolve();
  await joining;
  await until('the late one has caught up', () => late.seen.length === 3);
  await append();
  await until('both go on', () => early.seen.length >= 4 && late.seen.length >= 4);
  expect([early.seen, late.seen]).toEqual([upTo(4), upTo(4)]);
});

it('lets a watcher join a tail that is behind it, without delivering any event twice', async () => {
  const early = await watching(new Reader(stream));
  await until('nothing is read', () => isIdle());
  const read = bed.database.read.bind(bed.database);
  const goOn = new Latch();
  // The next read of the tail is delayed. The tail is no longer idle a moment before it reads, so the test waits for
  // the call.
  const reads = jest.spyOn(bed.database, 'read');
  reads.mockImplementationOnce(async (...args) => {
    await goOn.promise;
    return read(...args) as never;
  });
  await append(3);
  await until('the tail reads', () => reads.mock.calls.length > 0);
  const late = await watching(new Reader(stream));
  expect(late.seen).toEqual([1, 2, 3]);
  expect(early.seen).toEqual([]);
  goOn.resolve();
  await until('the early one has them', () => early.seen.length === 3);
  await append();
  await until('both go on', () => early.seen.length >= 4 && late.seen.length >= 4);
  expect([early.seen, late.seen]).toEqual([upTo(4), upTo(4)]);
});

it('lets a watcher join a tail that has seen events which are no longer kept', async () => {
  const early = await watching(new Reader(stream));
  await append(3);
  await until('the early one has them', () => early.seen.length === 3);
  await bed.sql('delete from events where stream = $1', [stream]);
  const reads = jest.spyOn(bed.database, 'read');
  const late = await watching(new Reader(stream));
  await until('nothing is read', () => isIdle());
  expect(reads.mock.calls.length).toBeLessThanOrEqual(2);
  await append();
  await until('both go on', () => early.seen.length === 4 && late.seen.length === 1);
  expect(late.seen).toEqual([4]);
});

it('stops sending stored events to a client that has disconnected', async () => {
  await append(450);
  const reader = new Reader(stream);
  let isOpen = true;
  const read = bed.database.read.bind(bed.database);
  const reads = jest.spyOn(bed.database, 'read');
  reads.mockImplementation((...args) => {
    isOpen = false;
    return read(...args) as never;
  });
  stops.push(
    await hub.watch(
      reader,
      () => undefined,
      () => isOpen,
    ),
  );
  expect(reads).toHaveBeenCalledTimes(1);
  expect(reader.seen).toHaveLength(200);
});

it('keeps nothing of a watcher whose stored events could not be read', async () => {
  jest.spyOn(bed.database, 'read').mockRejectedValueOnce(new Error('Postgres is away'));
  const reader = new Reader(stream);
  await expect(hub.watch(reader, () => (reader.isClosed = true))).rejects.toThrow('away');
  hub.beforeApplicationShutdown();
  expect(reader.isClosed).toBe(false);
});

it('reads again when notifications may have been lost', async () => {
  const reader = await watching(new Reader(stream));
  await until('nothing is read', () => isIdle());
  // An event without a notification.
  await bed.sql(
    `with head as (insert into event_streams values ($1, $2, 1))
     insert into events (stream, sequence, tenant_id, id, type, subject, actor, data) values ($1, 1, $2, 'evt', 'x', 'x/y', 'x:y', '{}')`,
    [stream, TENANT],
  );
  expect(reader.seen).toEqual([]);
  await bed.cutNotifications();
  await until('it has it', () => reader.seen.length === 1);
});

it('reads by itself if a notification is lost silently', async () => {
  holdIntervals();
  try {
    const reader = await watching(new Reader(stream));
    await until('nothing is read', () => isIdle());
    await bed.sql(
      `with head as (insert into event_streams values ($1, $2, 1))
       insert into events (stream, sequence, tenant_id, id, type, subject, actor, data) values ($1, 1, $2, 'evt2', 'x', 'x/y', 'x:y', '{}')`,
      [stream, TENANT],
    );
    expect(reader.seen).toEqual([]);
    jest.advanceTimersByTime(30_000);
    await until('it has it', () => reader.seen.length === 1);
  } finally {
    jest.useRealTimers();
  }
});

it('retries after a read that failed', async () => {
  const reader = await watching(new Reader(stream));
  await until('nothing is read', () => isIdle());
  const read = jest.spyOn(bed.database, 'read').mockRejectedValueOnce(new Error('Postgres is away'));
  await append();
  await until('the look has failed', () => read.mock.calls.length === 1);
  await until('it has it all the same', () => reader.seen.length === 1);
  expect(reader.seen).toEqual([1]);
});

it('sends nothing to a watcher that has left, and drops a stream without watchers', async () => {
  const [one, another] = [new Reader(stream), await watching(new Reader(stream))];
  const stop = await hub.watch(one, () => (one.isClosed = true));
  await append();
  await until('both have it', () => one.seen.length === 1 && another.seen.length === 1);
  stop();
  await append();
  await until('the other has the next', () => another.seen.length === 2);
  expect(one.seen).toEqual([1]);
  for (const leave of stops.splice(0)) leave();
  const reads = jest.spyOn(bed.database, 'read');
  await append();
  await notified();
  expect(reads).not.toHaveBeenCalled();
  hub.beforeApplicationShutdown();
  expect([one.isClosed, another.isClosed]).toEqual([false, false]);
});

it('closes all watchers when the process stops', async () => {
  const [one, another] = [await watching(new Reader(stream)), await watching(new Reader(`${stream}-other`))];
  hub.beforeApplicationShutdown();
  expect([one.isClosed, another.isClosed]).toEqual([true, true]);
});

/** Whether no tail of the hub is being read. */
function isIdle(): boolean {
  const { tails } = hub as unknown as { tails: Map<string, { reading: WakeableTask }> };
  return [...tails.values()].every((tail) => tail.reading.isIdle);
}

/** Resolves when this process has received every notification that was sent before. */
async function notified(): Promise<void> {
  const channel = `slipway_test_${Date.now()}`;
  const told = new Latch();
  const unlisten = await bed.database.listen(channel, () => told.resolve());
  await bed.sql(`select pg_notify('${channel}', '')`);
  await told.promise;
  await unlisten();
}
