import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { appendEvents } from '../../events/index.js';
import { appendAudit } from '../../mutations/index.js';
import { ACTOR, OperationsBed, TENANT } from '../../../test/operations/bed.js';
import { OperationRetention } from './retention.js';

let bed: OperationsBed;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());

const retention = (days?: number) => {
  const operator = { targets: [], secrets: {}, retention: days === undefined ? undefined : { operations_days: days } };
  return new OperationRetention({ operator });
};
const sweep = (days?: number) => retention(days).run((scope, work) => bed.database.tx(scope, work));
async function ended(age: string): Promise<string> {
  const id = await bed.begin();
  await bed.sql(`update operations set status = 'failed', completed_at = now() - interval '${age}' where id = $1`, [
    id,
  ]);
  return id;
}
const kept = async (...ids: string[]) => {
  const rows = await bed.sql<{ id: string }>('select id from operations where id = any($1)', [ids]);
  return ids.filter((id) => rows.some((row) => row.id === id));
};
it('deletes operations that ended more than thirty days ago, with their steps, and no live ones however old', async () => {
  const [old, young, live] = [await ended('30 days 1 minute'), await ended('29 days 23 hours'), await bed.begin()];
  await bed.sql(`update operations set created_at = now() - interval '1 year', updated_at = created_at where id = $1`, [
    live,
  ]);
  await sweep();
  expect(await kept(old, young, live)).toEqual([young, live]);
  const steps = await bed.sql<{ id: string }>(
    'select distinct operation_id as id from operation_steps where operation_id = any($1)',
    [[old, young, live]],
  );
  expect(steps.map((row) => row.id).sort()).toEqual([young, live].sort());
});

it('deletes operations after the number of days that the file says, in batches until none is left', async () => {
  const [old, young] = [await ended('7 days 1 minute'), await ended('6 days 23 hours')];
  await bed.sql(
    `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, status, requested_by, completed_at)
     select 'op_' || n, $1, 'probe', 'thing', 'thing', 'thing', 's', 'succeeded', '{}', now() - interval '8 days' from generate_series(1, 1200) n`,
    [TENANT],
  );
  await sweep(7);
  expect(await kept(old, young)).toEqual([young]);
  expect(await bed.sql(`select 1 from operations where stream = 's'`)).toEqual([]);
});

it('needs the events of every operation that is kept, live or ended, and of no other', async () => {
  const stream = 'deployment/dep_1';
  const [gone, over, live] = [await ended('1 year'), await ended('1 day'), await bed.begin()];
  const told = (operationId: string | null) => ({ type: 'x', subject: 'x/y', actor: ACTOR, data: {}, operationId });
  await bed.database.tx('system', (tx) =>
    appendEvents(tx, TENANT, stream, [told(null), told(gone), told(over), told(live), told(null), told(live)]),
  );
  await sweep();
  const first = (from: number, kept: number) =>
    bed.database.tx('system', (tx) =>
      retention().firstNeeded(tx, [{ stream, tenantId: TENANT, first: String(from), kept: String(kept) }]),
    );
  expect(await first(1, 7)).toEqual([{ stream, sequence: '3' }]);
  expect(await first(4, 7)).toEqual([{ stream, sequence: '4' }]);
  expect(await first(5, 7)).toEqual([{ stream, sequence: '6' }]);
  expect(await first(5, 6)).toEqual([]);
  expect(await first(1, 3)).toEqual([]);
});

it('keeps the audit log, and leaves events to their own retention', async () => {
  const id = await ended('1 year');
  await bed.database.tx({ tenantId: TENANT }, async (tx) => {
    await appendAudit(tx, { action: 'x', resourceType: 'operation', resourceName: id });
    const told = { type: 'x', subject: 'x/y', actor: ACTOR, data: {}, operationId: id };
    await appendEvents(tx, TENANT, `operation/${id}`, [told]);
  });
  await bed.sql(`update events set time = now() - interval '1 year' where operation_id = $1`, [id]);
  await sweep();
  expect(await kept(id)).toEqual([]);
  expect(await bed.sql('select 1 from events where operation_id = $1', [id])).toHaveLength(1);
  expect(await bed.sql('select 1 from audit_log where resource_name = $1', [id])).toHaveLength(1);
});

it('skips an operation that another transaction has locked', async () => {
  const [locked, free] = [await ended('1 year'), await ended('1 year')];
  await bed.whileLocked('select 1 from operations where id = $1 for update', [locked], sweep);
  expect(await kept(locked, free)).toEqual([locked]);
});
