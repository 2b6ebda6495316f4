import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Tx } from '@slipway/platform-database';
import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { beside, until } from '@slipway/platform-database/testing';
import { ACTOR, OperationsBed, PRINCIPAL, TENANT } from '../../../test/operations/bed.js';
import { dispatch, wake } from './dispatch.js';
import { lockBeforeEvents } from './operation.store.js';

let bed: OperationsBed;
let id: string;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());
beforeEach(async () => {
  id = await bed.begin();
  await bed.sql('delete from outbox');
});

const asSystem = <T>(work: (tx: Tx) => Promise<T>) => bed.database.tx('system', work);
const set = (change: string) => bed.sql(`update operations set ${change} where id = $1`, [id]);
const rowOf = async () => {
  const [row] = await bed.sql(`select dispatch, wake_at is null as "isAwake", awaiting from operations where id = $1`, [
    id,
  ]);
  return row;
};

describe('a dispatch', () => {
  it('puts one wake-up into the outbox, under a new number each time, and notifies the relay', async () => {
    let isTold = false;
    const unlisten = await bed.database.listen(OUTBOX_CHANNEL, () => (isTold = true));
    await asSystem((tx) => dispatch(tx, id));
    await until('the relay is told', () => isTold);
    await unlisten();
    await asSystem((tx) => dispatch(tx, id));
    expect(await bed.outbox()).toEqual([
      { id, dispatch: 2 },
      { id, dispatch: 3 },
    ]);
    expect(await rowOf()).toMatchObject({ dispatch: 3 });
  });

  it('belongs to the transaction of its caller', async () => {
    const refused = asSystem(async (tx) => {
      await dispatch(tx, id);
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    expect(await bed.outbox()).toEqual([]);
    expect(await rowOf()).toMatchObject({ dispatch: 1 });
  });

  it.each(['succeeded', 'failed', 'cancelled'])('does nothing for an operation that has %s', async (status) => {
    await set(`status = '${status}'`);
    await asSystem((tx) => dispatch(tx, id));
    expect(await bed.outbox()).toEqual([]);
  });
});

it('notifies the relays of accepted operations after the commits, with fewer notifications than operations', async () => {
  let rings = 0;
  let isOver = false;
  const unlisten = await bed.database.listen(OUTBOX_CHANNEL, (payload) => {
    if (payload === 'over') isOver = true;
    else rings += 1;
  });
  await Promise.all(Array.from({ length: 40 }, () => bed.begin()));
  await until('it has rung', () => rings > 0);
  // Notifications arrive in the order of their commits.
  await bed.sql(`select pg_notify('${OUTBOX_CHANNEL}', 'over')`);
  await until('all rings have arrived', () => isOver);
  await unlisten();
  expect(rings).toBeLessThan(20);
  expect(await bed.outbox()).toHaveLength(40);
});

describe('a wake', () => {
  it('ends the sleep of an operation', async () => {
    await set(`status = 'waiting', wake_at = now() + interval '1 hour'`);
    await asSystem((tx) => wake(tx, id));
    expect(await rowOf()).toEqual({ dispatch: 2, isAwake: true, awaiting: null });
    expect(await bed.outbox()).toEqual([{ id, dispatch: 2 }]);
  });

  it('does not continue an operation that waits for a person', async () => {
    await set(`status = 'waiting', wake_at = now() + interval '1 hour', awaiting = 'approval'`);
    await asSystem((tx) => wake(tx, id));
    expect(await rowOf()).toMatchObject({ isAwake: false, awaiting: 'approval' });
  });
});

it('dispatches the operation in the transaction of every change that a person makes', async () => {
  for (const [change, before] of [
    ['cancel', `status = 'running'`],
    ['retry', `status = 'failed', retryable = true`],
    ['resume', `status = 'waiting', awaiting = 'approval'`],
  ] as const) {
    await set(`cancel_requested = false, ${before}`);
    await bed.sql('delete from outbox');
    await bed.database.tx({ tenantId: TENANT }, (tx) =>
      change === 'resume' ? bed.store.resume(tx, id, PRINCIPAL) : bed.store[change](tx, id, ACTOR),
    );
    expect((await bed.outbox()).map((row) => [change, row.id])).toEqual([[change, id]]);
  }
});

it('lockBeforeEvents makes a cancel wait for a commit that appends events, so that they do not deadlock', async () => {
  let cancel: Promise<void> | undefined;
  await asSystem(async (tx) => {
    await lockBeforeEvents(tx, id);
    cancel = beside(() => bed.database.tx({ tenantId: TENANT }, (other) => bed.store.cancel(other, id, ACTOR)));
    await bed.somebodyWaits();
  });
  await cancel;
  expect(await bed.sql('select cancel_requested from operations where id = $1', [id])).toEqual([
    { cancel_requested: true },
  ]);
});
