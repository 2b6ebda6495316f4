import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { until } from '@slipway/platform-database/testing';
import { Schedule, type Transact } from '@slipway/platform-scheduling';
import { OperationsBed } from '../../test/bed.js';
import { OperationRepair } from './repair.js';

let bed: OperationsBed;
let repair: OperationRepair;

beforeAll(async () => {
  bed = await OperationsBed.start();
});
afterAll(() => bed?.stop());
beforeEach(() => {
  // A lease of 30 s makes a grace of 5 s.
  repair = repairOf(30);
});

const repairOf = (leaseSeconds: number) => new OperationRepair({ leaseSeconds }, new Schedule(bed.database, false));
const transact: Transact = (scope, work) => bed.database.tx(scope, work);
const run = (one = repair) => one.run(transact);

/** An operation whose outbox row and job are gone. */
async function lost(): Promise<string> {
  const id = await bed.begin();
  await bed.sql('delete from outbox where operation_id = $1', [id]);
  await bed.sql(`update operations set dispatched_at = now() - interval '1 hour' where id = $1`, [id]);
  return id;
}
/** A change and a repair at the same moment: in one transaction, so that no time passes between them. */
async function repairJustAfter(id: string, change: string, leaseSeconds = 30): Promise<void> {
  await repairOf(leaseSeconds).run((scope, work) =>
    bed.database.tx(scope, async (open) => {
      await open.query(`update operations set ${change} where id = $1`, [id]);
      return work(open);
    }),
  );
}
const sentOf = async (id: string) => (await bed.outbox()).filter((row) => row.id === id).map((row) => row.dispatch);

it('has a connection of its own beside the work of areas', async () => {
  const schedule = new Schedule(bed.database, false);
  const registered: unknown[] = [];
  schedule.register = (work, options) => void registered.push([work.name, work.everySeconds, options]);
  new OperationRepair({ leaseSeconds: 30 }, schedule).onModuleInit();
  expect(registered).toEqual([['operations', 1, { isRepair: true }]]);
});

describe('a repair', () => {
  it('sends a lost wake-up again, once, under the next number, and tells the relay', async () => {
    const id = await lost();
    let isTold = false;
    const unlisten = await bed.database.listen(OUTBOX_CHANNEL, () => (isTold = true));
    await run();
    expect(await sentOf(id)).toEqual([2]);
    await until('the relay is told', () => isTold);
    await unlisten();
    // The next repair sees that it was sent: with this dispatch, not with the lost one an hour ago.
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
    await repairJustAfter(id, change || 'message = message');
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
    await repairJustAfter(id, change);
    expect(await sentOf(id)).toEqual([]);
  });

  it('is shared by those who repair at once', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => lost()));
    await Promise.all([run(), run(repairOf(30)), run()]);
    for (const id of ids) expect(await sentOf(id)).toEqual([2]);
  });

  it('passes by a row that somebody has locked', async () => {
    const [locked, free] = [await lost(), await lost()];
    await bed.whileLocked('select 1 from operations where id = $1 for update', [locked], () => run());
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
    await repairJustAfter(fresh, ago(grace), leaseSeconds);
    expect(await sentOf(fresh)).toEqual([]);
    const due = await lost();
    await repairJustAfter(due, ago(grace + 0.001), leaseSeconds);
    expect(await sentOf(due)).toEqual([2]);
  });
});
