import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { newId } from '@slipway/platform-database';
import { ACTOR, OperationsBed, TENANT } from '../test/bed.js';
import { appendAudit } from './audit.js';
import { appendEvents } from './event.store.js';
import { Retention } from './retention.js';

let bed: OperationsBed;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());

const sweep = (retention = new Retention()) => bed.database.tx('system', (tx) => retention.sweep(tx));
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
const key = async (age: string) => {
  const name = newId('key');
  await bed.sql(
    `insert into idempotency_keys (tenant_id, method, path, key, fingerprint, claimed_until, created_at)
     values ($1, 'POST', '/x', $2, '', now(), now() - interval '${age}')`,
    [TENANT, name],
  );
  return name;
};

it('forgets what ended more than thirty days ago, with its steps, and nothing live however old', async () => {
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

it('forgets the keys of requests that are older than that', async () => {
  const [old, young] = [await key('30 days 1 minute'), await key('29 days 23 hours')];
  await sweep();
  const rows = await bed.sql<{ key: string }>('select key from idempotency_keys where key = any($1)', [[old, young]]);
  expect(rows.map((row) => row.key)).toEqual([young]);
});

it('keeps events and the audit log', async () => {
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

it('looks once a minute, however often the sweeper comes by', async () => {
  const retention = new Retention();
  await sweep(retention);
  const id = await ended('1 year');
  const now = Date.now();
  const clock = jest.spyOn(Date, 'now');
  try {
    clock.mockReturnValue(now + 30_000);
    await sweep(retention);
    expect(await kept(id)).toEqual([id]);
    clock.mockReturnValue(now + 61_000);
    await sweep(retention);
    expect(await kept(id)).toEqual([]);
  } finally {
    clock.mockRestore();
  }
});

it('passes by what somebody has locked', async () => {
  const [locked, free] = [await ended('1 year'), await ended('1 year')];
  await bed.database.tx('system', async (tx) => {
    await tx.query('select 1 from operations where id = $1 for update', [locked]);
    await sweep();
  });
  expect(await kept(locked, free)).toEqual([locked]);
});
