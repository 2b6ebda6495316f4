import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { actorText, WORKER } from '@slipway/contracts';
import { newId } from '@slipway/platform-database';
import { OperationsBed, TENANT } from '../../../test/operations/bed.js';
import { statusChanged } from '../accept/operation.store.js';
import { OPERATION_COLUMNS, type OperationRow } from '../operation.row.js';
import { CLAIM_OPERATIONS } from './run.query.js';

/** Claims by a worker that polls, independent of any wake-up. */
let bed: OperationsBed;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());
beforeEach(() => bed.sql('delete from operations'));

interface ClaimLimits {
  limit?: number;
  kinds?: string[];
  skip?: string[];
  outbound?: string[];
  outboundLimit?: number;
  skipOutbound?: string[];
}

const eventIds = (count: number) => Array.from({ length: count }, () => newId('evt'));

async function claim(asked: ClaimLimits = {}): Promise<string[]> {
  const { limit = 100, kinds = ['probe'], skip = [], outbound = [], outboundLimit = 100, skipOutbound = [] } = asked;
  const values = ['me', 30, eventIds(limit), limit, kinds, skip, outbound, skipOutbound, outboundLimit];
  const rows = await bed.database.tx('system', (tx) => tx.query<{ id: string }>(CLAIM_OPERATIONS, values));
  return rows.map(({ id }) => id);
}

/** Changes and claims in one transaction, so that no time passes between them. */
async function claimJustAfter(id: string, change: string): Promise<string[]> {
  return bed.database.tx('system', async (tx) => {
    await tx.query(`update operations set ${change} where id = $1`, [id]);
    const rows = await tx.query<{ id: string }>(CLAIM_OPERATIONS, [
      'me',
      30,
      eventIds(100),
      100,
      ['probe'],
      [],
      [],
      [],
      0,
    ]);
    return rows.map((row) => row.id);
  });
}

describe('a claim', () => {
  it.each([
    ['no worker has claimed yet', 'message = message'],
    ['waits for nothing', `status = 'running'`],
    ['has slept enough', `status = 'waiting', wake_at = now()`],
    ['was cancelled', `status = 'cancelling', cancel_requested = true`],
    ['was cancelled in its sleep', `status = 'waiting', cancel_requested = true, wake_at = now() + interval '1 hour'`],
    ['was cancelled while it waited for a person', `status = 'waiting', cancel_requested = true, awaiting = 'pause'`],
    ['was resumed', `status = 'running', is_resumed = true, awaiting = 'approval'`],
  ])('takes an operation that %s', async (_what, change) => {
    const id = await bed.begin();
    expect(await claimJustAfter(id, change)).toEqual([id]);
  });

  it.each([
    ['a worker holds', `status = 'running', lease_expires_at = now() + interval '1 ms'`],
    [
      'a dead worker held, before the repair has freed it',
      `status = 'running', lease_expires_at = now() - interval '1 ms'`,
    ],
    ['sleeps', `status = 'waiting', wake_at = now() + interval '6 ms'`],
    ['waits for a person', `status = 'waiting', awaiting = 'approval'`],
    ['has succeeded', `status = 'succeeded'`],
    ['has failed', `status = 'failed'`],
    ['was cancelled and has ended', `status = 'cancelled', cancel_requested = true`],
  ])('does not take an operation that %s', async (_what, change) => {
    const id = await bed.begin();
    expect(await claimJustAfter(id, change)).toEqual([]);
  });

  it('takes the operations that have been due longest first, and no more than requested', async () => {
    const ids = [await bed.begin(), await bed.begin(), await bed.begin(), await bed.begin()];
    const [first, second, third] = ids as [string, string, string];
    await bed.sql(`update operations set created_at = created_at - interval '1 hour' where id = $1`, [third]);
    await bed.sql(`update operations set wake_at = now() - interval '1 minute', status = 'waiting' where id = $1`, [
      second,
    ]);
    expect((await claim({ limit: 2 })).sort()).toEqual([second, third].sort());
    expect(await claim({ limit: 1 })).toEqual([first]);
  });

  it('skips the given tenants, the kinds that were not requested, and outbound kinds of given tenants', async () => {
    const id = await bed.begin();
    expect(await claim({ skip: [TENANT] })).toEqual([]);
    expect(await claim({ kinds: ['other'] })).toEqual([]);
    expect(await claim({ kinds: [], outbound: ['probe'], skipOutbound: [TENANT] })).toEqual([]);
    expect(await claim({ kinds: [], outbound: ['probe'], skip: [TENANT] })).toEqual([]);
    expect(await claim({ skip: ['other'], outbound: ['other'], skipOutbound: [TENANT] })).toEqual([id]);
  });

  it('takes outbound kinds among the others by age, and no more of them than their own limit', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 6; count += 1) ids.push(await bed.begin());
    await bed.sql(`update operations set kind = 'outbound' where id = any($1)`, [ids.slice(0, 4)]);
    const asked = { outbound: ['outbound'], outboundLimit: 2 };
    expect((await claim({ ...asked, limit: 3 })).sort()).toEqual([ids[0], ids[1], ids[4]].sort());
    expect((await claim(asked)).sort()).toEqual([ids[2], ids[3], ids[5]].sort());
  });

  it('takes no operation that a concurrent claim takes', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 20; count += 1) ids.push(await bed.begin());
    const taken = await Promise.all([claim({ limit: 8 }), claim({ limit: 8 }), claim({ limit: 8 })]);
    expect(taken.flat().sort()).toEqual(ids.sort());
  });

  it('skips a row that another transaction has locked', async () => {
    const [locked, free] = [await bed.begin(), await bed.begin()];
    const taken = await bed.whileLocked('select 1 from operations where id = $1 for update', [locked], () => claim());
    expect(taken).toEqual([free]);
  });

  it('takes the lease, and counts the first attempt', async () => {
    const id = await bed.begin();
    await claim();
    const [row] = await bed.sql(
      `select status, attempt, lease_owner, lease_version::int as version, lease_expires_at > now() as "isHeld" from operations where id = $1`,
      [id],
    );
    expect(row).toEqual({ status: 'running', attempt: 1, lease_owner: 'me', version: 1, isHeld: true });
  });

  it('begins the first step and appends its event as a request would, also for two operations of one stream', async () => {
    const ids = [await bed.begin(), await bed.begin()].sort();
    await bed.sql(`update operations set stream = 'shared'`);
    await claim();
    const events = await bed.sql(
      `select sequence::int, type, subject, actor, operation_id, data from events where stream = 'shared' order by subject`,
    );
    const rows = await bed.sql<OperationRow>(`select ${OPERATION_COLUMNS} from operations o order by id`);
    const told = rows.map((row) => statusChanged({ ...row, status: 'pending' }, 'running', WORKER));
    expect(events.map(({ sequence }) => sequence).sort()).toEqual([1, 2]);
    expect(events).toEqual(
      told.map(({ type, subject, actor, operationId, data }) =>
        expect.objectContaining({ type, subject, actor: actorText(actor), operation_id: operationId, data }),
      ),
    );
    const begun = await bed.sql(`select operation_id as id from operation_steps where status = 'running' order by 1`);
    expect(begun.map(({ id }) => id)).toEqual(ids);
  });

  it('finds operations and steps by their keys, however many are due', async () => {
    await bed.sql(
      `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by)
       select 'op_' || n, $1, 'probe', 'thing', 'thing', 'thing', 'operation/op_' || n, '{}' from generate_series(1, 20000) n`,
      [TENANT],
    );
    await bed.sql(
      `insert into operation_steps (operation_id, tenant_id, name, index) select id, tenant_id, 'first', 0 from operations`,
    );
    for (const table of ['operations', 'operation_steps']) await bed.sql(`analyze ${table}`);
    const plan = await bed.sql<Record<string, string>>(`explain (generic_plan) ${CLAIM_OPERATIONS.text}`);
    expect(plan.map((row) => Object.values(row)[0]).join('\n')).not.toContain('Seq Scan on operation');
  });
});
