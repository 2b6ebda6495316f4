import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { systemActor } from '@slipway/contracts';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { runInRequest, type Scope } from '@slipway/platform-http';
import { metrics } from '@slipway/platform-observability';
import { migrations } from './index.js';
import { ReadAudit, type AuditedRead } from './read-audit.js';
import { ReadListing } from './read-listing.js';

let bed: DatabaseBed;
let reads: ReadAudit;
let tenantId: string;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations] });
});
afterAll(() => bed?.stop());
beforeEach(() => {
  reads = new ReadAudit(bed.database);
  tenantId = newId('ten');
});
afterEach(() => {
  jest.restoreAllMocks();
});

const read = (more: Partial<AuditedRead> = {}): AuditedRead => ({
  tenantId,
  action: 'thing.read',
  resourceType: 'thing',
  resourceName: 'one',
  actor: { type: 'token', id: 't' },
  ...more,
});
const listed = () =>
  bed.sql<{ actor: string; resource_name: string; reads: number; request_id: string | null }>(
    `select actor, action, resource_name, reads::int as reads, request_id from audit_log where tenant_id = $1 order by id`,
    [tenantId],
  );
const anHourPasses = () =>
  bed.sql(`update audit_reads set listed_at = listed_at - interval '1 hour' where tenant_id = $1`, [tenantId]);
const run = () => new ReadListing().run((scope, work) => bed.database.tx(scope, work));

it('lists the first read of an hour, and the next row counts the reads since then', async () => {
  reads.record(read());
  await reads.flush();
  expect(await listed()).toEqual([
    { actor: 'token:t', action: 'thing.read', resource_name: 'one', reads: 1, request_id: null },
  ]);
  for (let i = 0; i < 41; i += 1) reads.record(read());
  await reads.flush();
  expect(await listed()).toHaveLength(1);
  await anHourPasses();
  reads.record(read());
  await reads.flush();
  expect((await listed()).map((row) => row.reads)).toEqual([1, 42]);
});

it('counts another tenant, actor, action or resource separately', async () => {
  const others: Partial<AuditedRead>[] = [
    {},
    { actor: { type: 'token', id: 'u' } },
    { action: 'thing.opened' },
    { resourceType: 'box' },
    { resourceName: 'two' },
  ];
  for (const other of others) reads.record(read(other));
  const elsewhere = newId('ten');
  reads.record(read({ tenantId: elsewhere }));
  await reads.flush();
  expect(await listed()).toHaveLength(others.length);
  expect(await bed.sql('select 1 from audit_log where tenant_id = $1', [elsewhere])).toHaveLength(1);
});

it('lists one row an hour for many processes, and loses no read between them', async () => {
  const processes = Array.from({ length: 6 }, () => new ReadAudit(bed.database));
  const names = ['a', 'b', 'c', 'd'];
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(
      processes.map((one, index) => {
        for (const name of index % 2 ? names : [...names].reverse()) one.record(read({ resourceName: name }));
        return one.flush();
      }),
    );
  }
  expect((await listed()).map((row) => row.resource_name).sort()).toEqual(names);
  await anHourPasses();
  await run();
  const told = await listed();
  for (const name of names) {
    const rows = told.filter((row) => row.resource_name === name);
    expect(rows).toHaveLength(2);
    expect(rows.reduce((sum, row) => sum + row.reads, 0)).toBe(30);
  }
});

it('lists the last reads of a resource an hour later, and then deletes their counter', async () => {
  reads.record(read());
  await reads.flush();
  for (let i = 0; i < 3; i += 1) reads.record(read());
  await reads.flush();
  await run();
  expect((await listed()).map((row) => row.reads)).toEqual([1]);
  await anHourPasses();
  await run();
  expect((await listed()).map((row) => row.reads)).toEqual([1, 3]);
  reads.record(read());
  await reads.flush();
  expect(await listed()).toHaveLength(2);
  for (let hour = 0; hour < 2; hour += 1) {
    await anHourPasses();
    await run();
  }
  expect((await listed()).map((row) => row.reads)).toEqual([1, 3, 1]);
  expect(await bed.sql('select 1 from audit_reads where tenant_id = $1', [tenantId])).toEqual([]);
});

it('counts and logs a read whose row cannot be written, and does not fail it', async () => {
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const lost = async () => (await metrics.getSingleMetric('slipway_audit_reads_lost_total')!.get()).values[0]!.value;
  const before = await lost();
  await bed.asOwner('alter table audit_log add constraint full_up check (false) not valid');
  try {
    for (let i = 0; i < 3; i += 1) reads.record(read());
    await reads.flush();
  } finally {
    await bed.asOwner('alter table audit_log drop constraint full_up');
  }
  expect((await lost()) - before).toBe(3);
  expect(error).toHaveBeenCalledWith(expect.stringContaining('3 reads are missing from the audit log: '));
  reads.record(read());
  await reads.flush();
  expect((await listed()).map((row) => row.reads)).toEqual([1]);
});

it('records who read in which request, or for what a part of the product read', async () => {
  const principal = {
    tenantId,
    tenantName: 'x',
    isOperatorTenant: false,
    actor: { type: 'user' as const, id: 'usr_1' },
    scopes: new Set<Scope>(),
    owner: { type: 'person' as const, id: 'usr_1' },
    minters: [],
  };
  runInRequest({ requestId: 'req_1', warnings: [], principal }, () => reads.record(read({ actor: undefined })));
  reads.record(read({ action: 'secret.used', actor: systemActor('revision/rev_1') }));
  await reads.flush();
  expect(await listed()).toMatchObject([
    { actor: 'system:revision/rev_1', action: 'secret.used', request_id: null },
    { actor: 'user:usr_1', request_id: 'req_1' },
  ]);
});

it('holds a limited number of different reads in memory', async () => {
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  for (let i = 0; i < 10_002; i += 1) reads.record(read({ resourceName: `thing-${i}` }));
  await reads.flush();
  expect(error.mock.calls.map(([text]) => text)).toEqual([
    '2 reads are missing from the audit log: 10000 other reads were waiting to be written',
  ]);
  expect(await listed()).toHaveLength(10_000);
});

it('writes by itself about once a second, and the rest at shutdown', async () => {
  reads.onModuleInit();
  reads.record(read());
  const deadline = Date.now() + 20_000;
  while ((await listed()).length === 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  reads.record(read({ resourceName: 'two' }));
  await reads.onModuleDestroy();
  expect((await listed()).map((row) => row.resource_name)).toEqual(['one', 'two']);
});
