import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrate } from '@slipway/platform-database';
import { MIGRATIONS } from '@slipway/registry';
import { MigratedDatabase } from './migrated-database.js';

/** The migrations of owners, and one that needs a column of theirs. */
const NEW = ['TokenOwners1700000000013', 'StoredTokens1700000000015', 'PlanOwners1700000000804'];

let database: MigratedDatabase;

beforeAll(async () => {
  database = await MigratedDatabase.start(MIGRATIONS.filter(({ name }) => !NEW.includes(name)));
});
afterAll(() => database?.stop());

const rowsOf = (sql: string): Promise<any[]> => database.rowsOf(sql);

it('older tokens inherit the owner of their makers, and no creator can approve an older plan', async () => {
  await database.rowsOf(`
    insert into tenants (id, name, is_operator) values ('ten_op', 'default', true), ('ten_a', 'acme', false);
    insert into api_tokens (id, tenant_id, name, scopes, secret_sha256, created_by, expires_at)
    select id, tenant, 'n', '{admin}', '', maker, 'infinity' from (values
      ('tok_boot', 'ten_op', 'system:configuration'), ('tok_child', 'ten_op', 'token:tok_boot'),
      ('tok_grandchild', 'ten_op', 'token:tok_child'), ('tok_first', 'ten_a', 'token:tok_boot'),
      ('tok_second', 'ten_a', 'token:tok_first'), ('tok_ada', 'ten_a', 'user:ada'), ('tok_orphan', 'ten_a', 'token:tok_gone'),
      ('tok_of_orphan', 'ten_a', 'token:tok_orphan')) k (id, tenant, maker);
    insert into autopilot_plans (id, tenant_id, deployment_id, deployment_name, base_revision_id, spec_digest, content, content_digest,
      approvals_required, prevent_self_approval, created_by, created_at, expires_at)
    select 'plan_' || n, 'ten_a', 'd', 'd', 'r', '', '{}', '', 2, true, creator::jsonb, now(), now() from (values
      (1, '{"type":"token","id":"tok_second"}'), (2, '{"type":"user","id":"ada"}'), (3, '{"type":"system","id":"autopilot"}'),
      (4, '{"type":"token","id":"tok_none"}')) p (n, creator);
    insert into autopilot_plan_decisions (tenant_id, plan_id, decision, actor, digest) values
      ('ten_a', 'plan_2', 'approved', '{"type":"token","id":"tok_first"}', ''),
      ('ten_a', 'plan_2', 'approved', '{"type":"token","id":"tok_second"}', ''),
      ('ten_a', 'plan_3', 'expired', '{"type":"system","id":"clock"}', '')`);
  expect((await migrate(database.ownerUrl, MIGRATIONS, database.url)).sort()).toEqual([...NEW].sort());
  const owners = await rowsOf(`select id, owner_type || ' ' || owner_id as owner, minters from api_tokens order by id`);
  expect(owners.every(({ minters }) => minters.length === 0)).toBe(true);
  expect(Object.fromEntries(owners.map(({ id, owner }) => [id, owner]))).toEqual({
    tok_ada: 'person user:ada',
    tok_boot: 'person operator',
    tok_child: 'person operator',
    tok_first: 'person admin',
    tok_grandchild: 'person operator',
    tok_of_orphan: 'person token:tok_orphan',
    tok_orphan: 'person token:tok_orphan',
    tok_second: 'person admin',
  });
  const textOf = (owner: string) => `${owner}->>'type' || ' ' || (${owner}->>'id')`;
  expect(await rowsOf(`select id, ${textOf('creator_owner')} as owner from autopilot_plans order by id`)).toEqual([
    { id: 'plan_1', owner: 'person admin' },
    { id: 'plan_2', owner: 'person user:ada' },
    { id: 'plan_3', owner: null },
    { id: 'plan_4', owner: 'person token:tok_none' },
  ]);
  expect(await rowsOf(`select ${textOf('owner')} as owner from autopilot_plan_decisions order by id`)).toEqual([
    { owner: 'person admin' },
    { owner: 'person admin' },
    { owner: null },
  ]);
  await expect(database.rowsOf(`update autopilot_plans set creator_owner = null`)).rejects.toThrow('never changes');
  const forced = await rowsOf(
    `select relname::text as name from pg_class where relforcerowsecurity and relname in ('api_tokens', 'autopilot_plans', 'autopilot_plan_decisions') order by 1`,
  );
  expect(forced.map(({ name }) => name)).toEqual(['api_tokens', 'autopilot_plan_decisions', 'autopilot_plans']);
});
