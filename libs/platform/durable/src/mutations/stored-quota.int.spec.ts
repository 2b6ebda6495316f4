import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { QuotaSettings } from '@slipway/platform-config';
import { migrations as databaseMigrations, newId, type Tx } from '@slipway/platform-database';
import { Latch, until } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { KeyedRequest, reply, runInRequest, type Reply } from '@slipway/platform-http';
import { StoredCounts, StoredQuota } from '../quotas/index.js';
import { migrations } from './index.js';
import { Mutations } from './mutations.js';

/** Bytes that each row counts in addition to its content. */
const ROW = 256;
const KIB = 1_024;

let bed: DatabaseBed;
let tenantId: string;
const counts = new StoredCounts();

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations] });
  for (const [table, quota, isRecord] of [
    ['things', "'plans'", 'false'],
    ['logs', 'null', 'true'],
  ]) {
    await bed.asOwner(
      `create table ${table} (id bigint generated always as identity primary key, tenant_id text not null, content text not null)`,
    );
    await bed.asOwner(`insert into ${table} (tenant_id, content) values ('ten_before', 'abc'), ('ten_before', 'defg')`);
    await bed.asOwner(`select slipway_tenant_table('${table}')`);
    await bed.asOwner(`select slipway_count_stored('${table}', array['content'], ${quota}, ${isRecord})`);
  }
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  tenantId = newId('ten');
});

/** Mutations of one process, with these quotas. */
const processWith = (quotas: QuotaSettings) => new Mutations(settings(quotas), bed.database);
const settings = (quotas: QuotaSettings) => ({
  leaseSeconds: 30,
  operator: { quotas },
  rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
  gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
});
const who = () => ({ tenantId, tenantName: 'acme' });
const insert = (tx: Tx, bytes: number, table = 'things') =>
  tx.query(`insert into ${table} (tenant_id, content) values ($1, repeat('x', $2))`, [tx.tenant, bytes]);
const add = (mutations: Mutations, bytes = 0, table = 'things') =>
  mutations.run({ principal: who() }, (tx) => insert(tx, bytes, table));
const remove = (mutations: Mutations, table = 'things') =>
  mutations.run({ principal: who() }, (tx) => tx.query(`delete from ${table} where tenant_id = $1`, [tx.tenant]));
const addUp = () => counts.run((scope, work) => bed.database.tx(scope, work));
/** Rows and bytes of the tenant, as counted. */
const counted = async (table = 'things', tenant = tenantId): Promise<{ entries: number; bytes: number }> => {
  const [row] = await bed.sql<{ entries: number; bytes: number }>(
    `select coalesce(sum(entries), 0)::int as entries, coalesce(sum(bytes), 0)::int as bytes from (
       select tenant_id, table_name, entries, bytes from stored_totals union all select tenant_id, table_name, entries, bytes from stored_changes) c
     where tenant_id = $1 and table_name = $2`,
    [tenant, table],
  );
  return row!;
};

describe('the number of stored rows', () => {
  it('is exact for thirty concurrent requests to three processes', async () => {
    const processes = [1, 2, 3].map(() => processWith({ plans: 7 }));
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => add(processes[n % 3]!)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
    expect(await counted()).toEqual({ entries: 7, bytes: 7 * ROW });
    const refused = outcomes.find((outcome) => outcome.status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason).toMatchObject({
      status: 429,
      code: 'quota_exceeded',
      message: 'Tenant quota plans exceeded: at most 7 autopilot plans; 7 are in use and the request needs 1 more.',
      extra: { quota: 'plans', limit: 7, used: 7 },
    });
    expect(refused.reason.remediation).toMatch(/^Wait until old plans are deleted.*, or ask the operator/);
  });

  it('falls with a deletion, and does not count the rows of another tenant', async () => {
    const mutations = processWith({ plans: 2 });
    await add(mutations);
    await add(mutations);
    await expect(add(mutations)).rejects.toMatchObject({ code: 'quota_exceeded' });
    const full = tenantId;
    tenantId = newId('ten');
    await add(mutations);
    tenantId = full;
    await remove(mutations);
    await add(mutations);
    expect((await counted()).entries).toBe(1);
  });

  it('is not checked for a transaction that adds nothing to it', async () => {
    await add(processWith({ plans: 1 }));
    const mutations = processWith({ plans: 0 });
    await add(mutations, 10, 'logs');
    await remove(mutations);
    await expect(add(mutations)).rejects.toMatchObject({ code: 'quota_exceeded' });
  });

  it('waits for a transaction that has not ended, and takes no lock far from the limit', async () => {
    const near = processWith({ plans: 2 });
    const held = new Latch();
    const goOn = new Latch();
    // A transaction holds the lock from its check to its commit: here, for as long as the test keeps it open.
    const first = bed.database.tx({ tenantId }, async (tx) => {
      await insert(tx, 0);
      await tx.query(`select pg_advisory_xact_lock(hashtextextended('slipway.stored:' || $1::text, 0))`, [tenantId]);
      held.resolve();
      await goOn.promise;
    });
    await held.promise;
    await add(processWith({ plans: 10_000 }));
    const second = add(near);
    await bed.somebodyWaits();
    goOn.resolve();
    await first;
    await expect(second).rejects.toMatchObject({ code: 'quota_exceeded' });
  });
});

describe('the stored bytes', () => {
  it('are exact for concurrent requests of many sizes, and grow and shrink with updates', async () => {
    const limit = 20 * KIB;
    const processes = [1, 2].map(() => processWith({ stored_bytes: limit }));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) => add(processes[n % 2]!, KIB + 100 * n)),
    );
    const { bytes, entries } = await counted();
    expect(bytes).toBeLessThanOrEqual(limit);
    expect(limit - bytes).toBeLessThan(KIB + 100 * 40 + ROW);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(entries);

    const resize = (to: number) =>
      processes[0]!.run({ principal: who() }, (tx) =>
        tx.query(`update things set content = repeat('y', $2) where tenant_id = $1`, [tx.tenant, to]),
      );
    await expect(resize(limit)).rejects.toMatchObject({
      code: 'quota_exceeded',
      extra: { quota: 'stored_bytes', limit },
    });
    await resize(10);
    expect(await counted()).toEqual({ entries, bytes: entries * (ROW + 10) });
    await remove(processes[0]!);
    expect(await counted()).toEqual({ entries: 0, bytes: 0 });
    await add(processes[0]!, limit - ROW);
  });

  it('are exact if a small request has not ended while a large one takes all that is left', async () => {
    const limit = 1_024 * KIB;
    const quotas = { stored_bytes: limit };
    const [held, goOn] = [new Latch(), new Latch()];
    const small = bed.database.tx({ tenantId }, async (tx) => {
      await insert(tx, 10);
      await new StoredQuota(settings(quotas), bed.database).assertWithin(tx, 'acme');
      held.resolve();
      await goOn.promise;
    });
    await held.promise;
    const large = add(processWith(quotas), limit - ROW);
    await bed.somebodyWaits();
    goOn.resolve();
    await small;
    await expect(large).rejects.toMatchObject({ extra: { quota: 'stored_bytes' } });
    expect(await counted()).toEqual({ entries: 1, bytes: ROW + 10 });
  });

  it('let requests that only add records pass until a quarter beyond the limit', async () => {
    const mutations = processWith({ stored_bytes: 8 * KIB });
    await add(mutations, 7 * KIB);
    await add(mutations, 2 * KIB, 'logs');
    await expect(add(mutations, 10)).rejects.toMatchObject({
      code: 'quota_exceeded',
      retryable: true,
      message: expect.stringMatching(
        /^Tenant quota stored_bytes exceeded: at most 8192 stored bytes; \d+ are in use and the request needs 266 more\.$/,
      ),
    });
    await expect(add(mutations, KIB, 'logs')).rejects.toMatchObject({ code: 'quota_exceeded' });
    await remove(mutations);
    await add(mutations, KIB);
  });

  it('count the answers of Idempotency-Keys, and refuse a key that would exceed their number', async () => {
    const mutations = processWith({ idempotency_keys: 1 });
    const claim = (key: string) => ({ method: 'POST', path: '/things', key, fingerprint: 'a' });
    const answer = async () => reply(201, { text: 'x'.repeat(5 * KIB) });
    const keyed = (given: ReturnType<typeof claim>, handle: () => Promise<Reply>) => {
      const request = new KeyedRequest(given);
      return runInRequest({ requestId: '', warnings: [], keyed: request }, () => request.answer(handle));
    };
    await keyed(claim('one'), () => mutations.run({ principal: who() }, answer));
    const { entries, bytes } = await counted('idempotency_keys');
    expect({ entries, isCounted: bytes > 5 * KIB }).toEqual({ entries: 1, isCounted: true });
    // A repeat needs no second key.
    expect(
      ((await keyed(claim('one'), () => mutations.run({ principal: who() }, answer))) as Reply).headers,
    ).toMatchObject({ 'idempotency-replayed': 'true' });
    for (const refused of [
      keyed(claim('two'), () => mutations.run({ principal: who() }, answer)),
      mutations.hold({ tenantId }, claim('three')),
    ])
      await expect(refused).rejects.toMatchObject({ extra: { quota: 'idempotency_keys' } });
    expect((await counted('idempotency_keys')).entries).toBe(1);
  });
});

describe('the counts', () => {
  it('include rows from before the triggers, once a worker has counted them', async () => {
    await addUp();
    expect(await counted('things', 'ten_before')).toEqual({ entries: 2, bytes: 2 * ROW + 7 });
    await addUp();
    expect(await counted('things', 'ten_before')).toEqual({ entries: 2, bytes: 2 * ROW + 7 });
  });

  it('stay exact while workers add up, and while a table is counted again', async () => {
    const mutations = processWith({});
    const changes = Array.from({ length: 60 }, async (_, n) => {
      await add(mutations, n);
      if (n % 3 === 0)
        await bed.sql(`delete from things where tenant_id = $1 and content = repeat('x', $2)`, [tenantId, n]);
    });
    const upkeep = Array.from({ length: 6 }, async (_, n) => {
      await bed.sql(`update stored_tables set counted_at = null where name = 'things' and $1`, [n % 2 === 0]);
      await addUp();
    });
    await Promise.all([...changes, ...upkeep]);
    const [actual] = await bed.sql(
      `select count(*)::int as entries, sum(${ROW} + octet_length(content))::int as bytes from things where tenant_id = $1`,
      [tenantId],
    );
    expect(await counted()).toEqual(actual);
    await addUp();
    expect(await counted()).toEqual(actual);
    expect(await bed.sql('select 1 from stored_changes')).toEqual([]);
  });

  it('are added up by the process itself if no worker does', async () => {
    await bed.sql(
      `insert into stored_changes (tenant_id, table_name, entries, bytes) select $1, 'logs', 1, 1 from generate_series(1, 2500)`,
      [tenantId],
    );
    await add(processWith({}), 1);
    const pending = () => bed.sql('select 1 from stored_changes where tenant_id = $1', [tenantId]);
    await until('the changes to be added up', async () => (await pending()).length === 0);
    expect(await counted('logs')).toEqual({ entries: 2_500, bytes: 2_500 });
  });

  it('cannot be changed by a tenant', async () => {
    await add(processWith({}), 1);
    for (const statement of [
      'delete from stored_changes',
      'update stored_totals set bytes = 0',
      'delete from stored_tables',
    ])
      await expect(bed.database.tx({ tenantId }, (tx) => tx.query(statement))).rejects.toMatchObject({ code: '42501' });
  });
});
