import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '@slipway/platform-database/testing/database-bed';
import { MIGRATIONS } from '@slipway/registry';
import { MigratedDatabase } from './migrated-database.js';

let database: MigratedDatabase;

beforeAll(async () => {
  database = await MigratedDatabase.start(MIGRATIONS);
});
afterAll(() => database?.stop());

const rowsOf = (sql: string): Promise<any[]> => database.rowsOf(sql);

it('forces row-level security on every table, with a policy for the system and, if rows have a tenant, one for the tenant', async () => {
  const tables = await rowsOf(`
    select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as "isForced",
      (select array_agg(p.policyname::text order by p.policyname::text) from pg_policies p where p.tablename = c.relname) as policies,
      exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped) as "hasTenant"
    from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname not like 'schema\\_%' order by 1`);
  expect(tables.length).toBeGreaterThan(30);
  expect(
    tables.filter((table) => !table.isForced || !table.policies?.includes('system')).map((table) => table.name),
  ).toEqual([]);
  expect(
    tables.filter((table) => table.hasTenant && !table.policies.includes('tenant')).map((table) => table.name),
  ).toEqual([]);
});

it('shows the application nothing before a transaction has taken a role', async () => {
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

it('has a comment on every table', async () => {
  const silent = await rowsOf(`
    select c.relname as name from pg_class c
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname not like 'schema\\_%' and obj_description(c.oid) is null`);
  expect(silent).toEqual([]);
});

describe('entities', () => {
  let source: DataSource;

  beforeAll(async () => {
    source = await new DataSource(dataSourceOptions(database.ownerUrl, 1)).initialize();
  });
  afterAll(() => source.destroy());

  it('map every table exactly once', async () => {
    const tables = await rowsOf(`
      select c.relname::text as name from pg_class c
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and c.relname not like 'schema\\_%'`);
    const mapped = source.entityMetadatas.map((entity) => entity.tableName);
    expect(mapped.sort()).toEqual(tables.map((table) => table.name).sort());
  });

  it('map every column with its type, primary key, nullability and default', async () => {
    const columns = await rowsOf(`
      select c.relname::text as "table", a.attname::text as name, t.typname::text as type, not a.attnotnull as "isNullable",
        a.atthasdef or a.attidentity <> '' as "hasDefault",
        coalesce(a.attnum = any (i.indkey), false) as "isPrimary"
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
        left join pg_index i on i.indrelid = c.oid and i.indisprimary
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace`);
    for (const entity of source.entityMetadatas) {
      const mapped = entity.columns.map((column) => ({
        table: entity.tableName,
        name: column.databaseName,
        type: (column.isArray ? '_' : '') + (UDT[String(column.type)] ?? String(column.type)),
        isNullable: column.isNullable,
        hasDefault: column.default !== undefined || column.isGenerated || !column.isInsert,
        isPrimary: column.isPrimary,
      }));
      const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
      expect(mapped.sort(byName)).toEqual(columns.filter((column) => column.table === entity.tableName).sort(byName));
    }
  });
});

const UDT: Record<string, string> = {
  int: 'int4',
  smallint: 'int2',
  integer: 'int4',
  bigint: 'int8',
  boolean: 'bool',
  'double precision': 'float8',
  'timestamp with time zone': 'timestamptz',
};
