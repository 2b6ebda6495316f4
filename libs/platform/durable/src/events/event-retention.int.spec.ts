import 'reflect-metadata';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import type { OperatorConfig } from '@slipway/platform-config';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { beside } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import type { Transact } from '../scheduling/index.js';
import { EventList } from './event-list.js';
import { EventRetention, KeepsEvents, type NeedsEvents, type ExpiredEvents } from './event-retention.js';
import { appendEvents } from './event.store.js';
import { EventsModule } from './events.module.js';
import { migrations } from './index.js';

const TENANT = newId('ten');
const DAYS = 10;

/** The needs of some part of the product: by stream, the first sequence that it needs. */
const needed = new Map<string, number>();
let asked: string[] = [];

@Injectable()
@KeepsEvents('museum')
class Museum implements NeedsEvents {
  async firstNeeded(_tx: unknown, old: readonly ExpiredEvents[]) {
    asked.push(...old.map(({ stream }) => stream));
    return old.flatMap(({ stream }) => (needed.has(stream) ? [{ stream, sequence: String(needed.get(stream)) }] : []));
  }
}

let bed: DatabaseBed;
let list: EventList;
let stream: string;
let operator: OperatorConfig;

beforeAll(async () => {
  bed = await DatabaseBed.start({
    migrations: [...databaseMigrations, ...migrations],
    imports: [EventsModule.forApi(), DiscoveryModule],
    providers: [Museum],
  });
  list = bed.module.get(EventList);
});
afterAll(() => bed?.stop());
beforeEach(async () => {
  stream = `deployment/${newId('dep')}`;
  operator = { targets: [], secrets: {}, retention: { events_days: DAYS } };
});
afterEach(async () => {
  jest.restoreAllMocks();
  needed.clear();
  asked = [];
  await bed.sql('delete from events');
  await bed.sql('delete from event_streams');
  await bed.sql('delete from event_inbox');
});

/** A retention as a worker process has it. */
function worker(): EventRetention {
  const retention = new EventRetention({ operator }, bed.module.get(DiscoveryService, { strict: false }));
  retention.onModuleInit();
  return retention;
}
const transact: Transact = (scope, work) => bed.database.tx(scope, work);
const sweep = () => worker().run(transact);

/** Appends events, each so many days old; the oldest first. */
async function append(days: readonly number[], into = stream): Promise<void> {
  const event = { type: 'a', subject: 'deployments/chat', actor: { type: 'token', id: 'test' }, data: {} } as const;
  await bed.database.tx('system', (tx) =>
    appendEvents(
      tx,
      TENANT,
      into,
      days.map(() => event),
    ),
  );
  const [row] = await bed.sql<{ last: string }>(
    'select last_sequence::text as last from event_streams where stream = $1',
    [into],
  );
  const first = Number(row!.last) - days.length + 1;
  await bed.sql(
    `update events e set time = now() - make_interval(secs => d.days * 86400) from unnest($2::float8[]) with ordinality d(days, place)
     where e.stream = $1 and e.sequence = $3 + d.place - 1`,
    [into, days, first],
  );
  await dueAgain(into);
}
/** Makes the stream due, as if it had never been checked, or long ago. */
const dueAgain = (which = stream) =>
  bed.sql(
    `update event_streams s set oldest_at = coalesce((select time from events e where e.stream = s.stream order by sequence limit 1), oldest_at) where stream = $1`,
    [which],
  );
const old = (count: number, days = 30) => Array.from({ length: count }, () => days);
async function kept(of = stream): Promise<number[]> {
  const rows = await bed.sql<{ sequence: number }>(
    'select sequence::int as sequence from events where stream = $1 order by sequence',
    [of],
  );
  return rows.map(({ sequence }) => sequence);
}
const looksAgainIn = async (of = stream) =>
  (
    await bed.sql<{ hours: number }>(
      `select round(extract(epoch from oldest_at - (now() - make_interval(days => ${DAYS}))) / 3600)::int as hours from event_streams where stream = $1`,
      [of],
    )
  )[0]!.hours;

describe('the deletion of events older than the configured days', () => {
  it('deletes from the beginning of each stream, and nothing younger', async () => {
    const other = `${stream}-other`;
    await append([30, 20, DAYS + 0.01, DAYS - 0.01, 1]);
    await append([1, 0], other);
    await sweep();
    expect([await kept(), await kept(other)]).toEqual([
      [4, 5],
      [1, 2],
    ]);
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 4, last: 5 });
    // Readers then need not search through events that are deleted and not yet vacuumed.
    expect(await bed.sql('select first_sequence::int as first from event_streams where stream = $1', [stream])).toEqual(
      [{ first: 4 }],
    );
  });

  it('follows the current file, and deletes after ninety days by default', async () => {
    await append([91, 89, 9, 0]);
    operator = { targets: [], secrets: {} };
    await sweep();
    expect(await kept()).toEqual([2, 3, 4]);
    operator = { targets: [], secrets: {}, retention: { events_days: 10 } };
    await sweep();
    expect(await kept()).toEqual([3, 4]);
  });

  it('works in batches, however many events and streams there are', async () => {
    const streams = Array.from({ length: 230 }, (_, n) => `${stream}-${n}`);
    for (const one of streams) await append([40, 40, 1], one);
    await append([...old(4_000), 1]);
    let batches = 0;
    await worker().run((scope, work) => ((batches += 1), transact(scope, work)));
    expect(await kept()).toEqual([4_001]);
    expect(await bed.sql('select 1 from events where stream <> $1', [stream])).toHaveLength(230);
    expect(batches).toBeGreaterThan(3);
  });

  it('stops at the first event that is young by its clock, so that the kept events have no gap', async () => {
    await append([30, 2, 30, 30, 0]);
    await sweep();
    expect(await kept()).toEqual([2, 3, 4, 5]);
  });

  it('continues after a manual deletion', async () => {
    await append([30, 30, 30, 30, 0]);
    await bed.sql('delete from events where stream = $1 and sequence in (1, 2)', [stream]);
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 3, last: 5 });
    await sweep();
    expect(await kept()).toEqual([5]);
    await bed.sql('delete from events where stream = $1', [stream]);
    await dueAgain();
    await bed.sql(`update event_streams set oldest_at = 'epoch'`);
    await sweep();
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 6, last: 5 });
  });
});

describe('the retention of events', () => {
  it('keeps the newest event of a stream, so that the stream knows its end', async () => {
    await append(old(3));
    await sweep();
    expect(await kept()).toEqual([3]);
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 3, last: 3 });
    expect(await looksAgainIn()).toBe(24);
    await append([0]);
    await sweep();
    expect(await kept()).toEqual([4]);
  });

  it('keeps the first event that some part of the product still needs, and all after it', async () => {
    needed.set(stream, 3);
    await append([...old(5), 0]);
    await append([...old(2), 0], `${stream}-free`);
    await sweep();
    expect([await kept(), await kept(`${stream}-free`)]).toEqual([[3, 4, 5, 6], [3]]);
    // The stream is not checked for an hour, and then again.
    expect(await looksAgainIn()).toBe(1);
    asked = [];
    await sweep();
    expect(asked).toEqual([]);
    needed.delete(stream);
    await dueAgain();
    await sweep();
    expect(await kept()).toEqual([6]);
  });

  it('ignores a need for events that are young anyway', async () => {
    needed.set(stream, 5);
    await append([...old(4), 0]);
    await sweep();
    expect(await kept()).toEqual([5]);
  });

  it('keeps the events that a subscription has not received', async () => {
    await append([...old(4), 0]);
    await bed.sql(
      `insert into event_inbox (subscription, tenant_id, stream, sequence) select 'shop', $1, $2, unnest(array[2, 4])`,
      [TENANT, stream],
    );
    await sweep();
    expect(await kept()).toEqual([2, 3, 4, 5]);
    await bed.sql('delete from event_inbox where sequence = 2');
    await dueAgain();
    await sweep();
    expect(await kept()).toEqual([4, 5]);
  });
});

describe('a deletion', () => {
  it('that is killed between two batches keeps what it did, and the next one continues', async () => {
    await append([...old(3_000), 0]);
    let batches = 0;
    const killed: Transact = (scope, work) => {
      batches += 1;
      if (batches === 3) throw new Error('killed');
      return transact(scope, work);
    };
    await expect(worker().run(killed)).rejects.toThrow('killed');
    const { first, last } = await list.bounds(TENANT, stream);
    expect(first).toBeGreaterThan(501);
    expect([(await kept())[0], last]).toEqual([first, 3_001]);
    await sweep();
    expect(await kept()).toEqual([3_001]);
  });

  it('that dies within a batch has done nothing of it', async () => {
    await append([...old(3), 0]);
    const dies: Transact = (scope, work) =>
      bed.database.tx(scope, async (tx) => {
        await work(tx);
        throw new Error('killed');
      });
    await expect(worker().run(dies)).rejects.toThrow('killed');
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 1, last: 4 });
  });

  it('runs in one process at a time', async () => {
    await append([...old(20), 0]);
    await bed.database.tx('system', async (tx) => {
      await tx.query(`select pg_advisory_xact_lock(hashtextextended('slipway.event-retention', 0))`);
      await beside(sweep);
      expect(await beside(kept)).toHaveLength(21);
    });
    await Promise.all([sweep(), sweep(), sweep()]);
    await sweep();
    expect(await kept()).toEqual([21]);
  });

  it('ends after the current batch when the process stops', async () => {
    await append([...old(3_000), 0]);
    const stopping = new AbortController();
    await worker().run((scope, work) => (stopping.abort(), transact(scope, work)), stopping.signal);
    expect((await kept())[0]).toBe(501);
  });

  it('does not wait for a concurrent append, and moves the beginning of that stream later', async () => {
    await append([...old(5), 0]);
    const begins = async () =>
      (await bed.sql('select first_sequence::int as first from event_streams where stream = $1', [stream]))[0];
    await bed.database.tx('system', async (tx) => {
      const event = { type: 'a', subject: 'x/y', actor: { type: 'token', id: 'test' }, data: {} } as const;
      await appendEvents(tx, TENANT, stream, [event]);
      await beside(sweep);
    });
    expect([await kept(), await begins()]).toEqual([[6, 7], { first: 1 }]);
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 6, last: 7 });
    await sweep();
    expect([await kept(), await begins()]).toEqual([[6, 7], { first: 6 }]);
  });
});

describe('a reader before the first kept event', () => {
  const page = (after: number, order: 'asc' | 'desc' = 'asc') =>
    list.page(TENANT, { stream }, { order, after }, { limit: 50 });
  const expired = { code: 'cursor_expired', status: 410 };

  it('is refused with the first sequence that is kept', async () => {
    await append([...old(5), 0, 0]);
    await sweep();
    await expect(page(4)).rejects.toMatchObject({ ...expired, extra: { first_sequence: 6 } });
    expect(JSON.parse((await page(5)).text).data).toHaveLength(2);
    expect(JSON.parse((await page(7)).text).data).toEqual([]);
    expect(JSON.parse((await page(4, 'desc')).text).data).toEqual([]);
  });

  it('is refused even if only the newest event is left, and if none is left', async () => {
    await append(old(5));
    await sweep();
    await expect(page(3)).rejects.toMatchObject({ ...expired, extra: { first_sequence: 5 } });
    expect(JSON.parse((await page(4)).text).data).toHaveLength(1);
    await bed.sql('delete from events where stream = $1', [stream]);
    await expect(page(4)).rejects.toMatchObject({ ...expired, extra: { first_sequence: 6 } });
    expect(JSON.parse((await page(5)).text).data).toEqual([]);
  });

  it('is refused if the deletion comes between its request and its page', async () => {
    await append([...old(5), 0, 0]);
    const read = bed.database.read.bind(bed.database);
    let isFirst = true;
    jest.spyOn(bed.database, 'read').mockImplementation(async (...args) => {
      if (isFirst) {
        isFirst = false;
        await beside(sweep);
      }
      return read(...args) as never;
    });
    await expect(page(2)).rejects.toMatchObject(expired);
  });
});
