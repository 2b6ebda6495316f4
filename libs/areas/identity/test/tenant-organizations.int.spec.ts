import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrations as auth } from '@slipway/platform-http/auth';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import pg from 'pg';
import type { QueryRunner } from 'typeorm';
import { migrations } from '../src/index.js';
import { TenantOrganizations1700000000501 } from '../src/migrations/1700000000501-tenant-organizations.js';

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase([...platformMigrations, ...auth, ...migrations]);
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

it('organizations that one tenant alone had mapped become its own, and those of several are left to the operator', async () => {
  await owner.query(
    `insert into tenants (id, name, is_operator) values ('ten_0', 'default', true), ('ten_a', 'a', false), ('ten_b', 'b', false)`,
  );
  const mappings: [tenant: string, organization: string, user: string, status: string][] = [
    ['ten_a', 'org_of_a', 'one', 'active'],
    ['ten_a', 'org_of_a', 'two', 'active'],
    ['ten_b', 'org_of_a', 'one', 'revoked'],
    ['ten_a', 'org_of_two', 'one', 'active'],
    ['ten_b', 'org_of_two', 'two', 'active'],
    ['ten_0', 'org_of_operator', 'one', 'active'],
    ['ten_0', 'org_of_operator_and_b', 'one', 'active'],
    ['ten_b', 'org_of_operator_and_b', 'one', 'active'],
    ['ten_b', 'org_left', 'one', 'revoked'],
  ];
  for (const [tenant, organization, user, status] of mappings)
    await owner.query(
      `insert into console_access (id, tenant_id, provider, external_organization_id, external_user_id, scopes, status, updated_by)
       values ($1 || $2 || $3, $1, 'oidc', $2, $3, $4, $5, '{}')`,
      [tenant, organization, user, status === 'active' ? ['viewer'] : [], status],
    );
  const migration = new TenantOrganizations1700000000501();
  const runner = { query: (sql: string) => owner.query(sql) } as unknown as QueryRunner;
  await migration.down(runner);
  await migration.up(runner);
  const { rows } = await owner.query(
    'select tenant_id, external_organization_id, provider from tenant_organizations order by 2',
  );
  expect(rows).toEqual([{ tenant_id: 'ten_a', external_organization_id: 'org_of_a', provider: 'oidc' }]);
});

it('a transaction of a tenant sees its own organizations and adds none', async () => {
  const app = new pg.Client({ connectionString: database.url });
  await app.connect();
  try {
    await app.query(`begin; set local role slipway_tenant; set local slipway.tenant = 'ten_b'`);
    expect((await app.query('select 1 from tenant_organizations')).rows).toEqual([]);
    await expect(
      app.query(`insert into tenant_organizations values ('oidc', 'org_of_a', 'ten_b')`),
    ).rejects.toMatchObject({ code: '42501' });
    await app.query('rollback');
  } finally {
    await app.end();
  }
});
