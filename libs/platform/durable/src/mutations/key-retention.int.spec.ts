import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { migrations } from './index.js';
import { KeyRetention } from './key-retention.js';

let bed: DatabaseBed;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations] });
});
afterAll(() => bed?.stop());

const run = () => new KeyRetention().run((scope, work) => bed.database.tx(scope, work));
const key = async (age: string) => {
  const name = newId('key');
  await bed.sql(
    `insert into idempotency_keys (tenant_id, method, path, key, fingerprint, claimed_until, created_at)
     values ('ten', 'POST', '/x', $1, '', now(), now() - interval '${age}')`,
    [name],
  );
  return name;
};
const kept = async (...names: string[]) => {
  const rows = await bed.sql<{ key: string }>('select key from idempotency_keys where key = any($1)', [names]);
  return names.filter((name) => rows.some((row) => row.key === name));
};

it('deletes the keys of requests that are older than thirty days', async () => {
  const [old, young] = [await key('30 days 1 minute'), await key('29 days 23 hours')];
  await run();
  expect(await kept(old, young)).toEqual([young]);
});

it('skips a key that another transaction has locked', async () => {
  const [locked, free] = [await key('1 year'), await key('1 year')];
  await bed.whileLocked('select 1 from idempotency_keys where key = $1 for update', [locked], run);
  expect(await kept(locked, free)).toEqual([locked]);
});
