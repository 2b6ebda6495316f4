import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { migrations } from './index.js';
import { countSealed, keyProblems, reseal, type SealedColumn } from './sealed-column.js';
import { openSecret, sealSecret } from './secret-box.js';
import { DatabaseBed } from './testing/database-bed.js';

const [one, two, lost] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const old = new KeyRing(one);
const rotated = new KeyRing(two, [one]);
const ROWS = 250;

let bed: DatabaseBed;
const told: string[][] = [];
const column: SealedColumn = {
  table: 'things',
  id: 'id',
  column: 'secret',
  renewed: ({ id, secret }, renew) => renew(secret as string, `thing/${String(id)}`),
  onResealed: async (_tx, ids) => void told.push([...ids]),
};

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations });
  await bed.asOwner(`create table things (id text primary key, secret text)`);
  await bed.asOwner(`select slipway_system_table('things')`);
});
afterAll(() => bed.stop());

beforeEach(async () => {
  told.length = 0;
  const ids = Array.from({ length: ROWS }, (_, n) => `t${String(n).padStart(3, '0')}`);
  await bed.sql('delete from things');
  await bed.sql('insert into things select * from unnest($1::text[], $2::text[])', [
    [...ids, 'without'],
    [...ids.map((id) => sealSecret(old, `secret of ${id}`, `thing/${id}`)), null],
  ]);
});

const counts = () => bed.database.tx('system', (tx) => countSealed(tx, column));
async function rotate(): Promise<{ written: number; unopened: string[] }> {
  const unopened: string[] = [];
  const written = await reseal(
    (work) => bed.database.tx('system', work),
    column,
    rotated,
    (location) => unopened.push(location),
  );
  return { written, unopened };
}

it('seals every text again in batches, once, so that it still opens to the same secret', async () => {
  expect(await counts()).toEqual([{ keyId: old.current.id, texts: ROWS }]);
  expect(await rotate()).toEqual({ written: ROWS, unopened: [] });
  expect(told.map((ids) => ids.length)).toEqual(Array(ROWS / 10).fill(10));
  expect(await counts()).toEqual([{ keyId: rotated.current.id, texts: ROWS }]);
  const [row] = await bed.sql<{ secret: string }>(`select secret from things where id = 't123'`);
  expect(openSecret(new KeyRing(two), row!.secret, 'thing/t123')).toBe('secret of t123');
  expect(await rotate()).toEqual({ written: 0, unopened: [] });
});

it('skips a row that another transaction has locked, and seals it the next time', async () => {
  await bed.whileLocked(`select from things where id = 't007' for update`, [], async () => {
    expect(await rotate()).toEqual({ written: ROWS - 1, unopened: [] });
  });
  expect(await rotate()).toEqual({ written: 1, unopened: [] });
});

it('leaves a text that no key opens, or that belongs to another row, unchanged and names it', async () => {
  const foreign = sealSecret(new KeyRing(lost), 'x', 'thing/t001');
  await bed.sql(`update things set secret = $1 where id = 't001'`, [foreign]);
  await bed.sql(`update things set secret = (select secret from things where id = 't003') where id = 't002'`);
  expect(await rotate()).toEqual({ written: ROWS - 2, unopened: ['things.secret of t001', 'things.secret of t002'] });
  expect(await bed.sql(`select secret from things where id = 't001'`)).toEqual([{ secret: foreign }]);
});

it('reports that the key of a process differs, by the key’s id or, if the text has none, by trying', async () => {
  const { url } = bed;
  expect(await keyProblems(url, [column], old)).toEqual([]);
  expect(await keyProblems(url, [column], rotated)).toEqual([]);
  const stranger = new KeyRing(lost);
  expect(await keyProblems(url, [column], stranger)).toEqual([
    `things.secret has ${ROWS} secrets sealed with key ${old.current.id}: SLIPWAY_SECRET_KEY is key ${stranger.current.id}. Add the other key to SLIPWAY_SECRET_KEYS_OLD`,
  ]);
  // As older versions wrote it: the same box without the id of its key.
  await bed.sql(
    `update things set secret = 'v1.' || split_part(secret, '.', 3) || '.' || split_part(secret, '.', 4) || '.' || split_part(secret, '.', 5)`,
  );
  expect(await counts()).toEqual([{ keyId: null, texts: ROWS }]);
  expect(await keyProblems(url, [column], rotated)).toEqual([]);
  expect(await keyProblems(url, [column], stranger)).toHaveLength(1);
  expect(await rotate()).toEqual({ written: ROWS, unopened: [] });
});
