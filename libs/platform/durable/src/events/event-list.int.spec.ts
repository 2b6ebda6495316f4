import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import type { PageRequest } from '@slipway/platform-http';
import { beside } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { EventsModule } from './events.module.js';
import { migrations } from './index.js';
import { EventList } from './event-list.js';
import type { EventQueryDto } from './event.dto.js';
import { appendEvents, type EventSource, type NewEvent } from './event.store.js';

const TENANT = newId('ten');
const ACTOR = { type: 'token', id: 'test' } as const;

let bed: DatabaseBed;
let list: EventList;
let stream: string;

beforeAll(async () => {
  bed = await DatabaseBed.start({
    migrations: [...databaseMigrations, ...migrations],
    imports: [EventsModule.forApi()],
  });
  list = bed.module.get(EventList);
});
afterAll(() => bed?.stop());
beforeEach(() => {
  stream = `deployment/${newId('dep')}`;
});

const event = (options: Partial<NewEvent> = {}): NewEvent => ({
  type: 'route.updated',
  subject: 'deployments/chat',
  actor: ACTOR,
  data: {},
  ...options,
});
const append = (events: readonly NewEvent[], tenantId = TENANT, into = stream) =>
  bed.database.tx('system', (tx) => appendEvents(tx, tenantId, into, events));
async function page(
  source: EventSource,
  query: Partial<EventQueryDto>,
  request: Partial<PageRequest> = {},
  tenantId = TENANT,
) {
  const answer = await list.page(tenantId, source, { order: 'desc', ...query }, { limit: 50, ...request });
  return JSON.parse(answer.text) as { data: Record<string, any>[]; next_cursor: string | null };
}
/** The sequences of all pages, each page separately, as a client reads them. */
async function walk(source: EventSource, query: Partial<EventQueryDto>, limit: number): Promise<number[][]> {
  const pages: number[][] = [];
  let cursor: PageRequest['cursor'];
  do {
    const { data, next_cursor } = await page(source, query, { limit, cursor });
    pages.push(data.map((one) => one['sequence']));
    // The content of a cursor after the name of its list.
    cursor = next_cursor === null ? undefined : JSON.parse(Buffer.from(next_cursor, 'base64url').toString()).slice(1);
  } while (cursor && pages.length < 20);
  return pages;
}

describe('pages', () => {
  /** Twelve events: every third is of type b, every second belongs to an operation. */
  const twelve = async () => {
    const operationId = newId('op');
    const about = (n: number) => ({
      type: n % 3 === 0 ? 'rollout.started' : 'route.updated',
      operationId: n % 2 === 0 ? operationId : null,
    });
    await append(Array.from({ length: 12 }, (_, index) => event(about(index + 1))));
    // An event of another stream, which must never be shown.
    await append([event({ type: 'rollout.started', operationId: newId('op') })], TENANT, `${stream}-other`);
    return { whole: { stream }, operation: { stream, operation: { id: operationId, hasEnded: async () => false } } };
  };

  it.each([
    [
      'whole',
      'asc',
      undefined,
      [
        [1, 2, 3, 4, 5],
        [6, 7, 8, 9, 10],
        [11, 12],
      ],
    ],
    [
      'whole',
      'desc',
      undefined,
      [
        [12, 11, 10, 9, 8],
        [7, 6, 5, 4, 3],
        [2, 1],
      ],
    ],
    [
      'whole',
      'asc',
      'route.updated',
      [
        [1, 2, 4, 5, 7],
        [8, 10, 11],
      ],
    ],
    [
      'whole',
      'desc',
      'route.updated',
      [
        [11, 10, 8, 7, 5],
        [4, 2, 1],
      ],
    ],
    ['operation', 'asc', undefined, [[2, 4, 6, 8, 10], [12]]],
    ['operation', 'desc', undefined, [[12, 10, 8, 6, 4], [2]]],
  ] as const)('of the %s stream, %s, of type %s', async (source, order, type, expected) => {
    const sources = await twelve();
    expect(await walk(sources[source], { order, type }, 5)).toEqual(expected);
  });

  it.each([
    [
      'asc',
      [
        [2, 4],
        [8, 10],
      ],
    ],
    [
      'desc',
      [
        [10, 8],
        [4, 2],
      ],
    ],
  ] as const)('of an operation, %s, of a type', async (order, expected) => {
    const { operation } = await twelve();
    expect(await walk(operation, { order, type: 'route.updated' }, 2)).toEqual(expected);
  });

  it('begin after a sequence, in the requested order', async () => {
    const { whole, operation } = await twelve();
    const first = async (source: EventSource, query: Partial<EventQueryDto>) =>
      (await page(source, query, { limit: 3 })).data.map((one) => one['sequence']);
    expect(await first(whole, { order: 'asc', after: 4 })).toEqual([5, 6, 7]);
    expect(await first(whole, { order: 'desc', after: 4 })).toEqual([3, 2, 1]);
    expect(await first(whole, { order: 'asc', after: 4, type: 'rollout.started' })).toEqual([6, 9, 12]);
    expect(await first(whole, { order: 'desc', after: 9, type: 'rollout.started' })).toEqual([6, 3]);
    expect(await first(whole, { order: 'desc', after: 9, type: 'rollout.*' })).toEqual([6, 3]);
    expect(await first(whole, { order: 'asc', after: 4, type: 'plan.*' })).toEqual([]);
    expect(await first(operation, { order: 'asc', after: 4 })).toEqual([6, 8, 10]);
    expect(await first(operation, { order: 'desc', after: 8 })).toEqual([6, 4, 2]);
  });

  it('continue from the cursor, whatever else the query contains', async () => {
    const { whole } = await twelve();
    const { data } = await page(whole, { order: 'asc', after: 2 }, { limit: 2, cursor: [7] });
    expect(data.map((one) => one['sequence'])).toEqual([8, 9]);
  });

  it('end with the last page, even if it is full', async () => {
    const { whole } = await twelve();
    expect((await page(whole, {}, { limit: 12 })).next_cursor).toBeNull();
    expect((await page(whole, {}, { limit: 11 })).next_cursor).not.toBeNull();
    expect(await page({ stream: 'nothing' }, {})).toEqual({ data: [], next_cursor: null });
  });

  it('show a tenant its own events only', async () => {
    const { whole, operation } = await twelve();
    for (const source of [whole, operation]) {
      for (const query of [{}, { type: 'route.updated' }, { order: 'asc' as const }])
        expect((await page(source, query, {}, newId('ten'))).data).toEqual([]);
    }
  });

  it('refuse a position whose next events are deleted, in ascending order', async () => {
    const { whole } = await twelve();
    await bed.sql('delete from events where stream = $1 and sequence <= 4', [stream]);
    await expect(page(whole, { order: 'asc', after: 3 })).rejects.toMatchObject({
      code: 'cursor_expired',
      status: 410,
      extra: { first_sequence: 5 },
    });
    await expect(page(whole, { order: 'asc' }, { cursor: [3] })).rejects.toMatchObject({ code: 'cursor_expired' });
    expect((await page(whole, { order: 'asc', after: 4 })).data).toHaveLength(8);
    expect((await page(whole, { order: 'asc', after: 4, type: 'rollout.started' })).data).toHaveLength(3);
    expect((await page(whole, { order: 'desc', after: 3 })).data).toEqual([]);
    expect((await page(whole, { order: 'asc' })).data).toHaveLength(8);
  });
});

describe('an event', () => {
  it('is a CloudEvent with the fields it was appended with', async () => {
    await append([event({ subject: 'revisions/chat-1', operationId: 'op_1', revisionId: 'rev_1', data: { n: 1 } })]);
    await append([event()]);
    const { data } = await page({ stream }, { order: 'asc' });
    expect(data).toEqual([
      {
        specversion: '1.0',
        id: expect.stringMatching(/^evt_/),
        source: '/api/v1/revisions',
        type: 'route.updated',
        subject: 'revisions/chat-1',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        datacontenttype: 'application/json',
        sequence: 1,
        actor: 'token:test',
        operationid: 'op_1',
        revisionid: 'rev_1',
        data: { n: 1 },
      },
      expect.objectContaining({ sequence: 2, operationid: null, revisionid: null }),
    ]);
    expect(new Set(data.map((one) => one['id'])).size).toBe(2);
  });

  it('has a sequence in the order of commits, without gaps, with concurrent writers', async () => {
    const many = Array.from({ length: 20 }, (_, writer) =>
      append(Array.from({ length: 3 }, (__, n) => event({ data: { writer, n } }))),
    );
    const refused = bed.database.tx('system', async (tx) => {
      await appendEvents(tx, TENANT, stream, [event()]);
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await Promise.all(many);
    const { data } = await page({ stream }, { order: 'asc' }, { limit: 100 });
    expect(data.map((one) => one['sequence'])).toEqual(Array.from({ length: 60 }, (_, index) => index + 1));
    // Events that were appended together are adjacent, in their order.
    for (let at = 0; at < 60; at += 3) {
      const { writer } = data[at]!['data'];
      expect(data.slice(at, at + 3).map((one) => one['data'])).toEqual([0, 1, 2].map((n) => ({ writer, n })));
    }
    expect(await list.bounds(TENANT, stream)).toEqual({ first: 1, last: 60 });
  });

  it('waits for the previous one, so that none is visible before its predecessor', async () => {
    let behind: Promise<void> | undefined;
    await bed.database.tx('system', async (tx) => {
      await appendEvents(tx, TENANT, stream, [event({ data: { n: 1 } })]);
      behind = beside(() => append([event({ data: { n: 2 } })]));
      await bed.somebodyWaits();
      expect((await beside(() => page({ stream }, {}))).data).toEqual([]);
    });
    await behind;
    const { data } = await page({ stream }, { order: 'asc' });
    expect(data).toMatchObject([
      { sequence: 1, data: { n: 1 } },
      { sequence: 2, data: { n: 2 } },
    ]);
  });
});

describe('events of any size', () => {
  const COUNT = 12;
  /** Rows from before events were bounded: each has 400,000 bytes of data, which Postgres compresses. */
  const addFat = () =>
    bed.sql(
      `insert into events (stream, sequence, tenant_id, id, type, subject, actor, operation_id, data)
       select $1, s.last_sequence + n, $2, $1 || n, 'policy.updated', 'deployments/chat', 'token:test', $1, jsonb_build_object('fat', repeat('x', 400000))
       from event_streams s, generate_series(1, ${COUNT}) n where s.stream = $1`,
      [stream, TENANT],
    );

  it.each([
    ['ascending', { order: 'asc' }],
    ['descending', { order: 'desc' }],
    ['of one type', { order: 'asc', type: 'policy.updated' }],
  ] as const)('are listed %s in pages of bounded bytes, each event once', async (_what, query) => {
    await append([event()]);
    await addFat();
    const pages = await walk({ stream }, query, 200);
    const all = pages.flat();
    expect(all).toHaveLength('type' in query ? COUNT : COUNT + 1);
    expect(new Set(all).size).toBe(all.length);
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThan(5);
  });

  it('are listed by operation in pages of bounded bytes', async () => {
    await append([event()]);
    await addFat();
    const source = { stream, operation: { id: stream, hasEnded: async () => true } };
    const pages = await walk(source, { order: 'asc' }, 200);
    expect(pages.flat()).toEqual(Array.from({ length: COUNT }, (_one, index) => index + 2));
    expect(Math.max(...pages.map(({ length }) => length))).toBeLessThan(5);
  });

  it('keep their ids, and name what was too large to be stored', async () => {
    await append([event({ data: { id: 'kept', changes: ['x'.repeat(1_000_000)] } })]);
    const { data } = await page({ stream }, {});
    expect(data[0]!['data']).toEqual({ id: 'kept', omitted: ['changes'] });
  });
});
