import path from 'node:path';
import { expect, it } from '@jest/globals';
import { statementsIn, statementsUnder } from '../statements.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
/**
 * Half of the number before repositories, and these additions: claim and fence of the audit heads that are kept
 * outside, the lock of an adopted server, the assignment of devices under locks, output that travels through Postgres,
 * scaling by load over all workloads at once, the health of a target, look-ups of deployments, revisions and routes
 * without a transaction, console sessions by the clock of Postgres, the heartbeats of workers, the events that
 * webhooks still need, over many streams at once, the claims of faults that one of several workers reports, and what is
 * asked about all workloads or a page of deployments at once: the directions of scaling, drains and their end, failed
 * starts, last activations. Also: the access of a caller that is read again in the message of a commit, reservations of
 * uploads, reads that are bounded by bytes, the deletion of workloads whose revision is gone, the locks of a webhook and
 * of its queues, the queues that a new URL wakes, the users of a product and of a binding, the deletion of tokens that
 * ended long ago, what executed plans achieved and which ideas failed, over plans and their outcomes, the sessions that keep audit rows from being sealed, the spare instance, the replacement and the
 * instances of a restart, pages of plans in both orders, where instances run and what a deletion waits for, over instances
 * and their workloads, and the record of unknown units. And the numbers of `/metrics`: instances by state, deliveries
 * and queues of webhooks, tokens that end, and the work of operations.
 */
const MOST = 187;

it('counts each statement that is sent to Postgres once, and no fragment', () => {
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

it('finds no more statements in the areas than the list of reasons explains', () => {
  const found = statementsUnder(root, 'libs/areas');
  expect(found.length).toBeGreaterThan(0);
  expect(found.length).toBeLessThanOrEqual(MOST);
});
