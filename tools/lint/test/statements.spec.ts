import path from 'node:path';
import { expect, it } from '@jest/globals';
import { statementsIn, statementsUnder } from '../statements.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
/**
 * Half of what stood there before repositories took over, and since then: two that claim and fence the heads of the audit that are kept
 * outside, the lock of an adopted server, those by which devices and places are given away under locks and output travels through Postgres,
 * those by which the number of instances follows the load, ages and counts over all workloads at once, the one by which a target says that
 * it is ill, the look-ups by which deployments, revisions and routes are shown without a transaction, those of console sessions, which are
 * claimed, counted and ended by the clock of Postgres, those by which workers say that they live, and the one by which webhooks tell which old
 * events they still need, over many streams at once.
 */
const MOST = 134;

it('counts what is sent to Postgres, once each, and no fragment', () => {
  const text = `
    const COLUMNS = 'id, name';
    const SOURCE = \`shops s join streets using (street_id)\`;
    export const FIND = prepared('shop-find', \`select \${COLUMNS} from \${SOURCE} where id = $1\`);
    export const GET = lookup('shop-get', 'select 1');
    export const LOCK = locking('shop', prepared('shop-lock', 'select 1 for update'));
    void tx.query('update shops set name = $1', [name]);
    throw new Error('update the shop first');
  `;
  expect(statementsIn('shop.query.ts', text).map(({ line }) => line)).toEqual([4, 5, 6, 7]);
});

it('finds no more of them in the areas than there are reasons for', () => {
  const found = statementsUnder(root, 'libs/areas');
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThanOrEqual(MOST);
});
