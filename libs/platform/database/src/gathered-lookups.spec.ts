import { expect, it } from '@jest/globals';
import { GatheredLookups } from './database.js';
import { lookup, type Statement, type TxScope } from './tx.js';

const THINGS = lookup('gathered-things', 'select 1');
const OTHERS = lookup('gathered-others', 'select 2');
const A = { tenantId: 'ten_a' };
const B = { tenantId: 'ten_b' };

interface SentStatement {
  scope: TxScope;
  statement: string;
  values: unknown[];
}

/** Answers each key with itself, `none` with nothing, and fails if `bad` is among the keys. */
function watched(): { lookups: GatheredLookups; sent: SentStatement[] } {
  const sent: SentStatement[] = [];
  const read = async (scope: TxScope, { name }: Statement, values: unknown[]): Promise<object[]> => {
    sent.push({ scope, statement: name, values });
    const keys = values[0] as string[];
    if (keys.includes('bad')) throw new Error(`bad among ${keys.length}`);
    return keys.filter((key) => key !== 'none').map((key) => ({ key, at: sent.length }));
  };
  return { lookups: new GatheredLookups(read), sent };
}

it('combines the look-ups of one turn of the event loop into one statement, with each key once', async () => {
  const { lookups, sent } = watched();
  const keys = ['x', 'y', 'x', 'none'];
  const rows = await Promise.all(keys.map((key) => lookups.find('system', THINGS, key, [])));
  expect(rows).toEqual([{ key: 'x', at: 1 }, { key: 'y', at: 1 }, { key: 'x', at: 1 }, undefined]);
  expect(sent).toEqual([{ scope: 'system', statement: 'gathered-things', values: [['x', 'y', 'none']] }]);
});

it('sends nothing before the turn of the event loop ends, and looks up again for a later caller', async () => {
  const { lookups, sent } = watched();
  const first = lookups.find(A, THINGS, 'x', []);
  await Promise.resolve();
  expect(sent).toHaveLength(0);
  await first;
  expect(await lookups.find(A, THINGS, 'x', [])).toEqual({ key: 'x', at: 2 });
});

it('sends a separate statement for each tenant, each statement, and each list of shared values', async () => {
  const { lookups, sent } = watched();
  const asked = [A, B, 'system', A, B] as const;
  await Promise.all([
    ...asked.map((scope, n) => lookups.find(scope, THINGS, `${n}`, [])),
    lookups.find(A, OTHERS, 'o', []),
    lookups.find(A, THINGS, 's', ['one']),
    lookups.find(A, THINGS, 't', ['two']),
    lookups.find(A, THINGS, 'u', ['two']),
  ]);
  expect(sent).toEqual([
    { scope: A, statement: 'gathered-things', values: [['0', '3']] },
    { scope: B, statement: 'gathered-things', values: [['1', '4']] },
    { scope: 'system', statement: 'gathered-things', values: [['2']] },
    { scope: A, statement: 'gathered-others', values: [['o']] },
    { scope: A, statement: 'gathered-things', values: [['s'], 'one'] },
    { scope: A, statement: 'gathered-things', values: [['t', 'u'], 'two'] },
  ]);
});

it('requests at most thirty-two keys at a time', async () => {
  const { lookups, sent } = watched();
  const keys = Array.from({ length: 70 }, (_, n) => `${n}`);
  const rows = await Promise.all(keys.map((key) => lookups.find(A, THINGS, key, [])));
  expect(rows.map((row) => (row as { key: string }).key)).toEqual(keys);
  expect(sent.map(({ values }) => (values[0] as string[]).length)).toEqual([32, 32, 6]);
});

it('requests as many keys at a time as a statement names', async () => {
  const { lookups, sent } = watched();
  const many = lookup('gathered-many', 'select 3', { mostKeys: 50 });
  await Promise.all(Array.from({ length: 70 }, (_, n) => lookups.find('system', many, `${n}`, [])));
  expect(sent.map(({ values }) => (values[0] as string[]).length)).toEqual([50, 20]);
});

it('looks up each key alone if a statement for several fails, so that only the invalid key fails', async () => {
  const { lookups, sent } = watched();
  const results = await Promise.allSettled(['x', 'bad', 'bad', 'y'].map((key) => lookups.find(A, THINGS, key, [])));
  expect(results.map((result) => (result.status === 'rejected' ? String(result.reason) : result.value))).toEqual([
    { key: 'x', at: 2 },
    'Error: bad among 1',
    'Error: bad among 1',
    { key: 'y', at: 4 },
  ]);
  expect(sent).toHaveLength(4);
});

it('does not repeat a failed look-up of a single key', async () => {
  const { lookups, sent } = watched();
  await expect(lookups.find(A, THINGS, 'bad', [])).rejects.toThrow('bad among 1');
  expect(sent).toHaveLength(1);
});
