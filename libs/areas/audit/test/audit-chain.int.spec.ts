import 'reflect-metadata';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Module, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import pg from 'pg';
import { migrations as auth } from '@slipway/platform-http/auth';
import { FIRST_AUDIT_HASH } from '@slipway/contracts';
import { ConfigModule, loadConfig, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { appendAudit } from '@slipway/platform-durable/mutations';
import { platformMigrations } from '@slipway/platform-durable/operations/testing';
import { hashOf } from '../src/audit-chain.js';
import { AuditKeys, sealOf } from '../src/audit-keys.js';
import type { AuditRow } from '../src/audit-rows.js';
import { sealBatch } from '../src/audit-sealer.js';
import { verifyAudit, type ChainReport } from '../src/audit-verifier.js';
import { auditVerify, lineOf } from '../src/audit-verify.js';
import { migrations } from '../src/index.js';

const TENANT = 'ten_chain';
const OTHER = 'ten_other';
const ROWS = 6;

let testDatabase: TestDatabase;
let config: Config;
let context: INestApplicationContext;
let db: Database;
/** The owner of the schema: no code of Slipway has this role, but an intruder may. */
let owner: pg.Client;

beforeAll(async () => {
  testDatabase = await createTestDatabase([...platformMigrations, ...auth, ...migrations]);
  config = loadConfig(
    { NODE_ENV: 'test', DATABASE_URL: testDatabase.url, SLIPWAY_SECRET_KEY: Buffer.alloc(32).toString('base64') },
    '/',
  );
  @Module({ imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)] })
  class TestModule {}
  context = await NestFactory.createApplicationContext(TestModule, { logger: false });
  db = context.get(Database, { strict: false });
  owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
  await owner.connect();
  for (const id of [TENANT, OTHER]) await owner.query(`insert into tenants (id, name) values ($1, $1)`, [id]);
});

afterAll(async () => {
  await owner?.end();
  await context?.close();
  await testDatabase?.drop();
});

beforeEach(async () => {
  for (const tenantId of [TENANT, OTHER]) {
    for (let i = 1; i <= ROWS; i += 1) await append(tenantId, `thing-${i}`);
    await seal(tenantId);
  }
});

afterEach(async () => {
  await owner.query('truncate audit_log, audit_heads');
});

function append(tenantId: string, resourceName: string): Promise<void> {
  return db.tx({ tenantId }, (tx) =>
    appendAudit(tx, {
      action: 'thing.set',
      resourceType: 'thing',
      resourceName,
      before: { v: 1 },
      after: { v: 2 },
      actor: { type: 'token', id: 't' },
    }),
  );
}

async function seal(tenantId: string, limit = 100): Promise<number> {
  return (await db.tx('system', (tx) => sealBatch(tx, tenantId, limit, AuditKeys.of(config)))).sealed;
}

async function verify(tenant = TENANT): Promise<ChainReport> {
  const reports = await verifyAudit(db, AuditKeys.of(config), { tenant });
  expect(reports).toHaveLength(1);
  return reports[0]!;
}

const idOf = async (sequence: number): Promise<string> =>
  (await owner.query('select id from audit_log where tenant_id = $1 and sequence = $2', [TENANT, sequence])).rows[0].id;

it('the sealer chains rows so that a reader can recompute every hash', async () => {
  const { rows } = await owner.query<AuditRow>(
    `select a.*, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, sequence::int as sequence from audit_log a where tenant_id = $1 order by a.sequence`,
    [TENANT],
  );
  let previous = FIRST_AUDIT_HASH;
  for (const [index, row] of rows.entries()) {
    expect(row).toMatchObject({
      sequence: index + 1,
      previous_hash: previous,
      hash: hashOf(previous, row, index + 1),
      resource_name: `thing-${index + 1}`,
      seal: sealOf(AuditKeys.of(config).current, row.hash!),
    });
    previous = row.hash!;
  }
  expect(await verify()).toEqual({
    tenantId: TENANT,
    tenantName: TENANT,
    unsealed: 0,
    verified: { sequence: ROWS, hash: previous },
  });
});

it('the sealer gives a row that commits late a later sequence, and breaks nothing', async () => {
  let release!: () => void;
  const held = new Promise<void>((resolve) => (release = resolve));
  let isWritten!: () => void;
  const written = new Promise<void>((resolve) => (isWritten = resolve));
  const late = db.tx({ tenantId: TENANT }, async (tx) => {
    await appendAudit(tx, { action: 'thing.set', resourceType: 'thing', resourceName: 'late' });
    isWritten();
    await held;
  });
  await written;
  await append(TENANT, 'early');
  expect(await seal(TENANT)).toBe(1);
  expect(await verify()).toMatchObject({ verified: { sequence: ROWS + 1 }, unsealed: 0 });
  release();
  await late;
  expect(await verify()).toMatchObject({ verified: { sequence: ROWS + 1 }, unsealed: 1 });
  expect(await seal(TENANT)).toBe(1);
  const { rows } = await owner.query(
    'select resource_name, id from audit_log where tenant_id = $1 and sequence > $2 order by sequence',
    [TENANT, ROWS],
  );
  expect(rows.map((row) => row.resource_name)).toEqual(['early', 'late']);
  expect(rows[1].id < rows[0].id).toBe(true);
  expect((await verify()).broken).toBeUndefined();
});

it('every row is sealed once when many workers seal at once, in any batches', async () => {
  for (let i = 0; i < 40; i += 1) await append(TENANT, `more-${i}`);
  while ((await verify()).unsealed > 0) await Promise.all([1, 2, 3, 4, 5].map((limit) => seal(TENANT, limit)));
  expect(await verify()).toMatchObject({ verified: { sequence: ROWS + 40 }, unsealed: 0 });
});

it('the verifier detects a change of any column of any row', async () => {
  const { rows: columns } = await owner.query<{ name: string; type: string }>(
    `select column_name as name, data_type as type from information_schema.columns where table_name = 'audit_log'`,
  );
  expect(columns.length).toBeGreaterThanOrEqual(16);
  const undetected: string[] = [];
  for (const { name, type } of columns) {
    for (const sequence of [1, 3, ROWS]) {
      const id = await idOf(sequence);
      const changed =
        { bigint: `coalesce(${name}, 0) + 1000`, 'timestamp with time zone': `${name} + interval '1 microsecond'` }[
          type
        ] ?? `coalesce(${name}, '') || 'x'`;
      const {
        rows: [before],
      } = await owner.query(`select ${name}::text as value from audit_log where id = $1`, [id]);
      await owner.query(`update audit_log set ${name} = ${changed} where id = $1`, [id]);
      const { broken } = await verify();
      if (!broken) undetected.push(`${name} of row ${sequence}`);
      await owner.query(`update audit_log set ${name} = $2 where id = $1`, [
        name === 'id' ? `${id}x` : id,
        before.value,
      ]);
      expect((await verify()).broken).toBeUndefined();
    }
  }
  expect(undetected).toEqual([]);
});

it('the verifier names the first invalid row', async () => {
  await owner.query(`update audit_log set actor = 'token:somebody' where tenant_id = $1 and sequence in (3, 5)`, [
    TENANT,
  ]);
  expect((await verify()).broken).toEqual({
    sequence: 3,
    id: await idOf(3),
    problem: 'it was changed after it was sealed',
  });
});

it.each<[string, string, number, string]>([
  [
    'null turned into an empty text',
    `update audit_log set request_id = '' where tenant_id = $1 and sequence = 2`,
    2,
    'it was changed',
  ],
  ['a deletion in the middle', `delete from audit_log where tenant_id = $1 and sequence = 3`, 4, 'row 3 is missing'],
  ['a deletion at the beginning', `delete from audit_log where tenant_id = $1 and sequence = 1`, 2, 'row 1 is missing'],
  [
    'a row taken out of the chain',
    `update audit_log set sequence = null, previous_hash = null, hash = null where tenant_id = $1 and sequence = 3`,
    4,
    'row 3 is missing',
  ],
  [
    'a row put before the chain',
    `insert into audit_log (id, tenant_id, actor, action, resource_type, resource_name, sequence) values ('aud_0', $1, 'a', 'b', 'c', 'd', 0)`,
    0,
    'should be 1',
  ],
  [
    'a truncation at the end',
    `delete from audit_log where tenant_id = $1 and sequence > 4`,
    5,
    'rows 5 to 6 are missing at the end',
  ],
  ['a truncation of everything', `delete from audit_log where tenant_id = $1`, 1, 'rows 1 to 6 are missing at the end'],
  ['a head set back', `update audit_heads set sequence = 4 where tenant_id = $1`, 4, 'a different hash'],
  [
    'a head set back with its hash',
    `update audit_heads set sequence = 4, hash = (select hash from audit_log where tenant_id = $1 and sequence = 4) where tenant_id = $1`,
    5,
    'is before this row',
  ],
  ['a head that is gone', `delete from audit_heads where tenant_id = $1`, 1, 'is before this row'],
  [
    'a head with another hash',
    `update audit_heads set hash = repeat('a', 64) where tenant_id = $1`,
    6,
    'a different hash',
  ],
])('the verifier detects %s', async (_what, sql, sequence, problem) => {
  expect((await verify()).broken).toBeUndefined();
  await owner.query(sql, [TENANT]);
  expect((await verify()).broken).toMatchObject({ sequence, problem: expect.stringContaining(problem) });
  expect((await verify(OTHER)).broken).toBeUndefined();
});

it('the verifier detects a deletion whose gap was closed', async () => {
  await owner.query(`delete from audit_log where tenant_id = $1 and sequence = 5`, [TENANT]);
  await owner.query(`update audit_log set sequence = 5 where tenant_id = $1 and sequence = 6`, [TENANT]);
  await owner.query(`update audit_heads set sequence = 5 where tenant_id = $1`, [TENANT]);
  expect((await verify()).broken).toMatchObject({ sequence: 5, problem: 'it does not follow row 4' });
});

it('the verifier detects two rows that were swapped', async () => {
  await owner.query(`update audit_log set sequence = -sequence where tenant_id = $1 and sequence in (3, 4)`, [TENANT]);
  await owner.query(`update audit_log set sequence = 7 + sequence where tenant_id = $1 and sequence < 0`, [TENANT]);
  expect((await verify()).broken).toMatchObject({ sequence: 3 });
});

it('the verifier detects a row that was swapped, and hashed again, with its neighbour', async () => {
  await owner.query(
    `update audit_log a set (actor, action, resource_type, resource_name, at, before_digest, after_digest) = (select actor, action, resource_type, resource_name, at, before_digest, after_digest from audit_log b where b.tenant_id = a.tenant_id and b.sequence = 7 - a.sequence)
     where tenant_id = $1 and sequence in (3, 4)`,
    [TENANT],
  );
  expect((await verify()).broken).toMatchObject({ sequence: 3, problem: 'it was changed after it was sealed' });
});

it('the verifier detects a row that moved to another tenant', async () => {
  await owner
    .query(`update audit_log set tenant_id = $1 where tenant_id = $2 and sequence = $3`, [OTHER, TENANT, ROWS])
    .catch(() => undefined);
  await owner.query(`update audit_log set tenant_id = $1, sequence = $3 + 1 where tenant_id = $2 and sequence = $3`, [
    OTHER,
    TENANT,
    ROWS,
  ]);
  expect((await verify()).broken).toMatchObject({ sequence: ROWS });
  expect((await verify(OTHER)).broken).toMatchObject({ sequence: ROWS + 1 });
});

it('no transaction of the product can change or delete a row', async () => {
  for (const scope of [{ tenantId: TENANT }, 'system'] as const) {
    for (const sql of [`update audit_log set actor = 'x'`, 'delete from audit_log', 'delete from audit_heads']) {
      await expect(db.read(scope, sql)).rejects.toMatchObject({ code: '42501' });
    }
  }
  await expect(db.read({ tenantId: TENANT }, `update audit_log set sequence = null`)).rejects.toMatchObject({
    code: '42501',
  });
  await expect(db.read({ tenantId: TENANT }, `update audit_heads set sequence = 0`)).rejects.toMatchObject({
    code: '42501',
  });
});

it('the sealer continues with the other tenants if one chain is broken', async () => {
  await owner.query(`update audit_heads set sequence = 2 where tenant_id = $1`, [TENANT]);
  for (const tenantId of [TENANT, OTHER]) await append(tenantId, 'next');
  await expect(seal(TENANT)).rejects.toThrow();
  expect(await seal(OTHER)).toBe(1);
});

it('the command exits with 1 if a chain is broken, and with 2 if it is misused', async () => {
  expect(await auditVerify(config, [])).toBe(0);
  expect(await auditVerify(config, ['--tenant', TENANT])).toBe(0);
  await owner.query(`update audit_log set action = 'x' where tenant_id = $1 and sequence = 2`, [TENANT]);
  expect(await auditVerify(config, [])).toBe(1);
  expect(await auditVerify(config, ['--tenant', OTHER])).toBe(0);
  expect(lineOf(await verify())).toBe(
    `broken "${TENANT}" at row 2 (${await idOf(2)}): it was changed after it was sealed`,
  );
  expect(await auditVerify(config, ['--tenant', 'nobody'])).toBe(2);
  expect(await auditVerify(config, ['--what'])).toBe(2);
});
