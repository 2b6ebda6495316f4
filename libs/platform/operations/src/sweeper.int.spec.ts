import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '@slipway/platform-database';
import { holdIntervals, OperationsBed, Pending, until } from '../test/bed.js';
import { OUTBOX_CHANNEL } from './dispatch.js';
import { Sweeper } from './sweeper.js';

const SECOND_MS = 1_000;

let bed: OperationsBed;
let sweeper: Sweeper;

beforeAll(async () => {
  holdIntervals();
  bed = await OperationsBed.start();
});
afterAll(async () => {
  await bed?.stop();
  jest.useRealTimers();
});
beforeEach(() => {
  // A lease of 30 s makes a grace of 5 s.
  sweeper = new Sweeper({ leaseSeconds: 30 }, bed.database);
});
afterEach(() => sweeper.stop());

/** An operation whose outbox row and job are gone. */
async function lost(): Promise<string> {
  const id = await bed.begin();
  await bed.sql('delete from outbox where operation_id = $1', [id]);
  await bed.sql(`update operations set dispatched_at = now() - interval '1 hour' where id = $1`, [id]);
  return id;
}
/** A change and a sweep at the same moment: in one transaction, so that no time passes between them. */
async function sweepJustAfter(id: string, change: string, leaseSeconds = 30): Promise<void> {
  const tx: Database['tx'] = (scope, work) =>
    bed.database.tx(scope, async (open) => {
      await open.query(`update operations set ${change} where id = $1`, [id]);
      return work(open);
    });
  await new Sweeper({ leaseSeconds }, { tx } as Database).sweep();
}
const sentOf = async (id: string) => (await bed.outbox()).filter((row) => row.id === id).map((row) => row.dispatch);

describe('a sweep', () => {
  it('sends a lost wake-up again, once, under the next number, and tells the relay', async () => {
    const id = await lost();
    let isTold = false;
    const unlisten = await bed.database.listen(OUTBOX_CHANNEL, () => (isTold = true));
    await sweeper.sweep();
    expect(await sentOf(id)).toEqual([2]);
    await until('the relay is told', () => isTold);
    await unlisten();
    // The next sweep sees that it was sent: with this dispatch, not with the lost one an hour ago.
    const [row] = await bed.sql(
      `select not_before <= now() as "isDue", o.dispatched_at > now() - interval '1 minute' as "isNoted"
       from outbox join operations o on o.id = operation_id where operation_id = $1`,
      [id],
    );
    expect(row).toEqual({ isDue: true, isNoted: true });
  });

  it.each([
    ['nobody has taken up', ''],
    ['lost its worker', `status = 'running', lease_expires_at = now() - interval '1 ms'`],
    ['waits for nothing', `status = 'running'`],
    ['has slept enough', `status = 'waiting', wake_at = now() - interval '5001 ms'`],
    ['was cancelled', `status = 'cancelling', cancel_requested = true`],
    ['was cancelled in its sleep', `status = 'waiting', cancel_requested = true, wake_at = now() + interval '1 hour'`],
    ['was cancelled while a person was asked', `status = 'waiting', cancel_requested = true, awaiting = 'pause'`],
    ['was resumed', `status = 'running', is_resumed = true, awaiting = 'approval'`],
  ])('sends again what %s', async (_what, change) => {
    const id = await lost();
    await sweepJustAfter(id, change || 'message = message');
    expect(await sentOf(id)).toEqual([2]);
  });

  it.each([
    ['was just sent', 'dispatched_at = now()'],
    ['is to be sent later', `dispatched_at = now() + interval '1 hour'`],
    ['somebody holds', `status = 'running', lease_expires_at = now() + interval '1 ms'`],
    ['sleeps', `status = 'waiting', wake_at = now() + interval '1 ms'`],
    ['has just slept enough', `status = 'waiting', wake_at = now() - interval '5 seconds'`],
    ['waits for a person', `status = 'waiting', awaiting = 'approval'`],
    ['has succeeded', `status = 'succeeded'`],
    ['has failed', `status = 'failed'`],
    ['was cancelled and has ended', `status = 'cancelled', cancel_requested = true`],
  ])('leaves alone what %s', async (_what, change) => {
    const id = await lost();
    await sweepJustAfter(id, change);
    expect(await sentOf(id)).toEqual([]);
  });

  it('is shared by those who sweep at once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => lost()));
    const other = new Sweeper({ leaseSeconds: 30 }, bed.database);
    await Promise.all([sweeper.sweep(), other.sweep(), sweeper.sweep()]);
    for (const id of ids) expect(await sentOf(id)).toEqual([2]);
  });

  it('passes by a row that somebody has locked', async () => {
    const [locked, free] = [await lost(), await lost()];
    await bed.database.tx('system', async (tx) => {
      await tx.query('select 1 from operations where id = $1 for update', [locked]);
      await sweeper.sweep();
    });
    expect([await sentOf(locked), await sentOf(free)]).toEqual([[], [2]]);
  });
});

describe('the grace', () => {
  it.each([
    [1, 1],
    [8, 2],
    [3_600, 5],
  ])('of a lease of %i s is %i s', async (leaseSeconds, grace) => {
    const ago = (seconds: number) => `dispatched_at = now() - make_interval(secs => ${seconds})`;
    const fresh = await lost();
    await sweepJustAfter(fresh, ago(grace), leaseSeconds);
    expect(await sentOf(fresh)).toEqual([]);
    const due = await lost();
    await sweepJustAfter(due, ago(grace + 0.001), leaseSeconds);
    expect(await sentOf(due)).toEqual([2]);
  });
});

describe('the work of areas', () => {
  it('is done with every sweep, and what fails keeps nothing else from it', async () => {
    const done: string[] = [];
    sweeper.register({ name: 'broken', sweep: async () => Promise.reject(new Error('on purpose')) });
    sweeper.register({ name: 'sound', sweep: async () => void done.push('sound') });
    const id = await lost();
    await sweeper.sweep();
    await sweeper.sweep();
    expect(done).toEqual(['sound', 'sound']);
    expect(await sentOf(id)).toEqual([2]);
  });

  it('is undone where it fails, and only that', async () => {
    const [first, second] = [await bed.begin(), await bed.begin()];
    const note = 'update operations set message = $2 where id = $1';
    sweeper.register({
      name: 'broken',
      sweep: async (tx) => {
        await tx.query(note, [first, 'half']);
        throw new Error('on purpose');
      },
    });
    sweeper.register({ name: 'sound', sweep: async (tx) => void (await tx.query(note, [second, 'whole'])) });
    await sweeper.sweep();
    const rows = await bed.sql<{ message: string }>(
      'select message from operations where id = any($1) order by id = $2',
      [[first, second], second],
    );
    expect(rows.map((row) => row.message)).toEqual(['', 'whole']);
  });

  it('is looked for each second, never twice at a time, and awaited by a stop', async () => {
    const sweeps: Pending[] = [];
    sweeper.register({
      name: 'slow',
      sweep: () => {
        sweeps.push(new Pending());
        return sweeps.at(-1)!.promise;
      },
    });
    sweeper.start();
    await bed.sql('select 1');
    expect(sweeps).toHaveLength(0);
    jest.advanceTimersByTime(SECOND_MS);
    await until('the first sweep', () => sweeps.length === 1);
    jest.advanceTimersByTime(5 * SECOND_MS);
    await bed.sql('select 1');
    expect(sweeps).toHaveLength(1);
    sweeps[0]!.resolve();
    await until('the next one', () => {
      jest.advanceTimersByTime(SECOND_MS);
      return sweeps.length === 2;
    });
    let isStopped = false;
    const stopping = sweeper.stop().then(() => (isStopped = true));
    await bed.sql('select 1');
    expect(isStopped).toBe(false);
    sweeps[1]!.resolve();
    await stopping;
    jest.advanceTimersByTime(5 * SECOND_MS);
    await bed.sql('select 1');
    expect(sweeps).toHaveLength(2);
  });
});
