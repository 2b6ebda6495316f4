import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-testing';
import { ENTITIES, MIGRATIONS } from '@slipway/registry';

let database: TestDatabase;
let client: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
  client = new pg.Client({ connectionString: database.ownerUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const rowsOf = async (sql: string): Promise<any[]> => (await client.query(sql)).rows;

it('forces row-level security on every table, with a policy for the system and, where rows have a tenant, one for the tenant', async () => {
  const tables = await rowsOf(`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as "isForced",
      (select array_agg(p.policyname::text order by p.policyname::text) from pg_policies p where p.tablename = c.relname) as policies,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped) as "hasTenant"
    from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations' order by 1`);
  expect(tables.length).toBeGreaterThan(30);
  expect(
    tables.filter((table) => !table.isForced || !table.policies?.includes('system')).map((table) => table.name),
  ).toEqual([]);
  expect(
    tables.filter((table) => table.hasTenant && !table.policies.includes('tenant')).map((table) => table.name),
  ).toEqual([]);
});

it('lets the application see nothing before a transaction has taken a role', async () => {
  const app = new pg.Client({ connectionString: database.url });
  await app.connect();
  try {
    await expect(app.query('select 1 from operations')).rejects.toMatchObject({ code: '42501' });
    await app.query('begin; set local role slipway_tenant');
    expect((await app.query('select 1 from operations')).rows).toEqual([]);
  } finally {
    await app.end();
  }
});

it('comments every table', async () => {
  const silent = await rowsOf(`
    select c.relname as name from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migrations' and obj_description(c.oid) is null`);
  expect(silent).toEqual([]);
});

it('has the columns that each entity maps, of the same type and nullability', async () => {
  const source = await new DataSource({
    type: 'postgres',
    url: database.ownerUrl,
    entities: [...ENTITIES],
  }).initialize();
  try {
    for (const entity of source.entityMetadatas) {
      const columns = await rowsOf(`
        select column_name as name, udt_name as type, is_nullable = 'YES' as "isNullable" from information_schema.columns where table_name = '${entity.tableName}'`);
      const mapped = entity.columns.map((column) => ({
        name: column.databaseName,
        isNullable: column.isNullable,
        type: (column.isArray ? '_' : '') + (UDT[String(column.type)] ?? String(column.type)),
      }));
      for (const column of mapped)
        expect([entity.tableName, columns.find((one) => one.name === column.name)]).toEqual([entity.tableName, column]);
      const unmapped = columns.filter((one) => !mapped.some((column) => column.name === one.name));
      expect([entity.tableName, unmapped]).toEqual([entity.tableName, []]);
    }
  } finally {
    await source.destroy();
  }
});

const UDT: Record<string, string> = {
  int: 'int4',
  smallint: 'int2',
  integer: 'int4',
  bigint: 'int8',
  boolean: 'bool',
  'timestamp with time zone': 'timestamptz',
};
