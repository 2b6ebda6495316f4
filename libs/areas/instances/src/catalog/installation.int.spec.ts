import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Database } from '@slipway/platform-database';
import type { QueryRunner } from 'typeorm';
import { TargetBed } from '../../test/target-bed.js';
import { Installation } from './installation.js';
import { Installation1700000000430 } from '../migrations/1700000000430-installation.js';

let bed: TargetBed;

beforeEach(async () => {
  bed = await TargetBed.create();
});
afterEach(() => bed.dispose());

it('an installation has one id in every process and at every start, and each run of the migration creates another id', async () => {
  const [worker, api] = [await bed.process('worker'), await bed.process('api')];
  const id = await worker.context.get(Installation).id();
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(await api.context.get(Installation).id()).toBe(id);
  const owner = await bed.owner();
  try {
    const migration = new Installation1700000000430();
    await migration.down(owner as unknown as QueryRunner);
    await migration.up(owner as unknown as QueryRunner);
  } finally {
    await owner.end();
  }
  expect(await new Installation(api.database).id()).not.toBe(id);
});

it('the installation is one row, which no process of the product can change', async () => {
  const { database } = await bed.process('api');
  for (const sql of [
    'insert into installation default values',
    'update installation set id = gen_random_uuid()',
    'delete from installation',
  ])
    await expect(database.tx('system', (tx) => tx.query(sql))).rejects.toMatchObject({ code: '42501' });
  const owner = await bed.owner();
  try {
    await owner.query('alter table installation no force row level security');
    await expect(owner.query('insert into installation default values')).rejects.toMatchObject({ code: '23505' });
  } finally {
    await owner.end();
  }
});

it('the installation id is read once, and read again only after a failed read', async () => {
  const { database } = await bed.process('api');
  const looks = jest.spyOn(database, 'tx').mockRejectedValueOnce(new Error('Postgres is away'));
  const installation = new Installation(database);
  await expect(installation.id()).rejects.toThrow('Postgres is away');
  const [one, other] = await Promise.all([installation.id(), installation.id()]);
  expect(other).toBe(one);
  expect(looks).toHaveBeenCalledTimes(2);
});

it('the error says what to do if the row of the installation is missing', async () => {
  const empty = { tx: async () => [] } as unknown as Database;
  await expect(new Installation(empty).id()).rejects.toThrow('restore its row from a backup');
});
