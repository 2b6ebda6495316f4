import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import type { QueryRunner } from 'typeorm';
import { migrations } from './index.js';
import { TenantUnseen1700000000004 } from './migrations/1700000000004-tenant-unseen.js';
import { createTestDatabase, type TestDatabase } from './testing/index.js';

const BY_KEY = `explain (format json) select t.id from unnest(array['b1', 'b2']) with ordinality as given(id, place) join things t on t.id = given.id where place = place + 0`;

let database: TestDatabase;
let owner: pg.Client;
const migration = new TenantUnseen1700000000004();

const runner = (): QueryRunner =>
  ({
    query: async (text: string, values?: unknown[]) => (await owner.query(text, values)).rows,
  }) as unknown as QueryRunner;

/** Returns the rows that a tenant sees, in a transaction of its own. */
async function as<Row extends pg.QueryResultRow>(tenant: string, text: string): Promise<Row[]> {
  await owner.query('begin');
  try {
    await owner.query(`select set_config('slipway.tenant', $1, true), set_config('role', 'slipway_tenant', true)`, [
      tenant,
    ]);
    return (await owner.query<Row>(text)).rows;
  } finally {
    await owner.query('rollback');
  }
}

const plan = async (): Promise<string> => JSON.stringify(await as('ten_b', BY_KEY));

beforeAll(async () => {
  database = await createTestDatabase(migrations);
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await migration.down(runner());
  // A database of the previous release: two tables, one of which was changed before the migration was interrupted.
  await owner.query(`
    create table things (id text primary key, tenant_id text not null, made int not null) with (autovacuum_enabled = off);
    create index things_newest on things (tenant_id, made);
    create table others (id text primary key, tenant_id text not null);
    select slipway_tenant_table('things'), slipway_tenant_table('others');
    alter policy tenant on others using (tenant_id = (select current_setting('slipway.tenant', true)));
    insert into things select 'a' || n, 'ten_a', n from generate_series(1, 70) n`);
  await owner.query('analyze things');
  await owner.query(`insert into things select 'b' || n, 'ten_b', n from generate_series(1, 5000) n`);
}, 60_000);
afterAll(async () => {
  await owner?.end();
  await database?.drop();
});

it('finds rows by key for a tenant that began after the statistics were collected', async () => {
  expect(await plan()).toContain('things_newest');
  await migration.up(runner());
  expect(await plan()).toContain('things_pkey');
  expect(await plan()).not.toContain('things_newest');
});

it('shows and accepts only the rows of one tenant, in tables from before and after the migration', async () => {
  await owner.query(
    `create table later (id text primary key, tenant_id text not null); select slipway_tenant_table('later')`,
  );
  for (const table of ['things', 'others', 'later']) {
    await owner.query(
      `insert into ${table} select * from (values ('x', 'ten_x'), ('y', 'ten_y')) v${table === 'things' ? ', (values (1)) w' : ''}`,
    );
    expect(await as('ten_x', `select id from ${table}`)).toEqual([{ id: 'x' }]);
    expect(await as('', `select id from ${table}`)).toEqual([]);
    expect(await as('ten_x', `update ${table} set id = id returning id`)).toEqual([{ id: 'x' }]);
    await expect(as('ten_x', `update ${table} set tenant_id = 'ten_y'`)).rejects.toMatchObject({ code: '42501' });
  }
  const { rows } = await owner.query(
    `select distinct qual ~* 'select' as unseen from pg_policies where policyname = 'tenant'`,
  );
  expect(rows).toEqual([{ unseen: true }]);
});
