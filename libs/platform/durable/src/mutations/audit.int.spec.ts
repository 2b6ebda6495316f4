import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { digestOf, migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { runInRequest, type Scope } from '@slipway/platform-http';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { appendAudit, type AuditEntry } from './mutations.js';
import { migrations } from './index.js';

let bed: DatabaseBed;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations] });
});
afterAll(() => bed?.stop());

const entry: AuditEntry = { action: 'thing.set', resourceType: 'thing', resourceName: 'one' };

/** The rows that one request writes, as the log shows them. */
async function written(request: 'a request' | 'nobody', more: Partial<AuditEntry> = {}) {
  const tenantId = newId('ten');
  const append = () => bed.database.tx({ tenantId }, (tx) => appendAudit(tx, { ...entry, ...more }));
  const principal = {
    tenantId,
    tenantName: 'x',
    isOperatorTenant: false,
    actor: { type: 'user' as const, id: 'usr_1' },
    scopes: new Set<Scope>(),
    owner: { type: 'person' as const, id: 'alice' },
    minters: [],
  };
  await (request === 'nobody' ? append() : runInRequest({ requestId: 'req_1', warnings: [], principal }, append));
  return bed.sql(
    `select actor, action, resource_type, resource_name, request_id, before_digest, after_digest, at <= clock_timestamp() as "isPast"
     from audit_log where tenant_id = $1`,
    [tenantId],
  );
}

it('records the actor, the action, the resource and the request', async () => {
  expect(await written('a request')).toEqual([
    {
      actor: 'user:usr_1',
      action: 'thing.set',
      resource_type: 'thing',
      resource_name: 'one',
      request_id: 'req_1',
      before_digest: null,
      after_digest: null,
      isPast: true,
    },
  ]);
});

it('names the system if there is no request, and the actor of the entry before any other', async () => {
  expect(await written('nobody')).toMatchObject([{ actor: 'system:slipway', request_id: null }]);
  const actor = { type: 'system', id: 'sealer' } as const;
  expect(await written('nobody', { actor })).toMatchObject([{ actor: 'system:sealer' }]);
  expect(await written('a request', { actor })).toMatchObject([{ actor: 'system:sealer', request_id: 'req_1' }]);
});

it('stores digests of the resource before and after the mutation', async () => {
  const [before, after] = [{ a: 1 }, { a: 2 }];
  expect(await written('nobody', { before, after })).toMatchObject([
    { before_digest: digestOf(before), after_digest: digestOf(after) },
  ]);
  expect(await written('nobody', { before: null, after: 0 })).toMatchObject([
    { before_digest: null, after_digest: digestOf(0) },
  ]);
});

it('is rolled back together with its mutation', async () => {
  const tenantId = newId('ten');
  const refused = bed.database.tx({ tenantId }, async (tx) => {
    await appendAudit(tx, entry);
    throw new Error('refused');
  });
  await expect(refused).rejects.toThrow('refused');
  expect(await bed.sql('select 1 from audit_log where tenant_id = $1', [tenantId])).toEqual([]);
});
