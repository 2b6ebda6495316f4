import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { migrate } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { MIGRATIONS } from '@slipway/registry';

let database: TestDatabase;
let gateway: pg.Client;
let owner: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase(MIGRATIONS);
  gateway = await connect(database.gatewayUrl);
  owner = await connect(database.ownerUrl);
});
afterAll(async () => {
  await Promise.all([gateway.end(), owner.end()]);
  await database.drop();
});

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}

const ALL = 'DELETE,INSERT,SELECT,UPDATE';
/** A gateway's rights by table; a list of columns if it may not see or write the others. */
const MAY: Record<string, string> = {
  api_tokens:
    'SELECT(counts_for_owner,expires_at,id,last_used_at,owner_id,owner_type,revoked_at,scopes,secret_sha256,tenant_id) UPDATE(last_used_at)',
  dataplane_backends: 'SELECT',
  dataplane_followed_routes: ALL,
  dataplane_gateways: ALL,
  dataplane_inflight: ALL,
  dataplane_passport_counts: 'SELECT INSERT(passports,tenant_id) UPDATE(passports)',
  dataplane_passports: 'INSERT,SELECT,UPDATE',
  dataplane_published: 'SELECT',
  dataplane_request_stats: 'INSERT',
  dataplane_request_usage: 'INSERT',
  dataplane_routes: 'SELECT',
  tenants: 'SELECT(id,is_operator,name)',
};

it('the gateway’s role has exactly these rights, in every schema', async () => {
  const { rows } = await owner.query<{ name: string; may: string }>(`
    with whole as (
      select t.oid, string_agg(p.privilege_type, ',' order by p.privilege_type) as may
      from pg_class t, aclexplode(t.relacl) p where p.grantee = 'slipway_gateway'::regrole group by 1),
    by_column as (
      select c.oid, string_agg(c.may, ' ' order by c.may) as may from (
        select a.attrelid as oid, p.privilege_type || '(' || string_agg(a.attname, ',' order by a.attname) || ')' as may
        from pg_attribute a, aclexplode(a.attacl) p where p.grantee = 'slipway_gateway'::regrole group by 1, p.privilege_type) c group by 1)
    select t.relname as name, concat_ws(' ', w.may, c.may) as may
    from pg_class t left join whole w using (oid) left join by_column c using (oid) where w.oid is not null or c.oid is not null`);
  expect(Object.fromEntries(rows.map(({ name, may }) => [name, may]))).toEqual(MAY);
});

it('its login reads only those tables, in every role that it can take', async () => {
  const tables = (
    await owner.query<{ name: string }>(
      `select c.relname as name from pg_class c where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace order by 1`,
    )
  ).rows.map(({ name }) => name);
  const readable: string[] = [];
  await gateway.query('set role slipway_gateway');
  for (const table of tables) {
    const isRead = await gateway.query(`select * from ${table} limit 1`).then(
      () => true,
      (error: { code?: string }) => error.code !== '42501',
    );
    if (isRead) readable.push(table);
  }
  const whole = Object.keys(MAY).filter((table) => /SELECT(?!\()/.test(MAY[table] as string));
  expect(readable).toEqual(whole);
  expect(tables).toEqual(expect.arrayContaining(['operations', 'audit_log', 'sandboxes', 'webhooks', 'revisions']));
  await gateway.query('reset role');
  for (const role of ['slipway_system', 'slipway_tenant', 'slipway_app'])
    await expect(gateway.query(`set role ${role}`)).rejects.toMatchObject({ code: '42501' });
  await expect(gateway.query('select 1 from dataplane_routes')).rejects.toMatchObject({ code: '42501' });
});

it('it publishes nothing, makes and restores no token, raises no quota and makes no tenant the operator', async () => {
  await gateway.query('set role slipway_gateway');
  for (const statement of [
    `update dataplane_routes set generation = 9`,
    `delete from dataplane_backends`,
    `insert into dataplane_published (slug, tenant_id, product_id, bindings, audience) values ('a/b', 't', 'p', '[]', '{}')`,
    `insert into api_tokens (id) values ('tok_1')`,
    `update api_tokens set revoked_at = null`,
    `update api_tokens set scopes = '{admin}'`,
    `update tenants set is_operator = true`,
    `update dataplane_passport_counts set max_passports = 1000000`,
    `delete from dataplane_passports`,
    `select name from api_tokens`,
    `create table mine (id int)`,
    `create schema mine`,
  ])
    await expect(gateway.query(statement).then(() => statement)).rejects.toMatchObject({ code: '42501' });
  await gateway.query('reset role');
});

it('an installation with one login works: migrating grants it the gateways’ role', async () => {
  const app = await connect(database.url);
  try {
    await app.query('set role slipway_gateway');
    expect((await app.query('select 1 from dataplane_routes')).rows).toEqual([]);
  } finally {
    await app.end();
  }
});

it('migrating makes the gateways’ login if it is missing, and gives it a new password', async () => {
  const name = `gateway_${database.url.split('/').at(-1)}`.slice(0, 60);
  const as = (password: string): string => {
    const url = new URL(database.url);
    url.username = name;
    url.password = password;
    return url.toString();
  };
  try {
    for (const password of ['first', 'second']) {
      await migrate(database.ownerUrl, MIGRATIONS, database.url, as(password));
      const made = await connect(as(password));
      await made.query('set role slipway_gateway');
      await made.end();
    }
    const { rows } = await owner.query(
      `select rolinherit or rolsuper or rolcreaterole as has_more from pg_roles where rolname = $1`,
      [name],
    );
    expect(rows).toEqual([{ has_more: false }]);
  } finally {
    await owner.query(`drop owned by ${name}`);
    await owner.query(`drop role ${name}`);
  }
});
