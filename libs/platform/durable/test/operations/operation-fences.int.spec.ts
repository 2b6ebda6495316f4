import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Tx } from '@slipway/platform-database';
import { operationFailures, done, sleep, StepFailed } from '../../src/operations/index.js';
import {
  ACTOR,
  behind,
  beside,
  effect,
  Effects1700000000099,
  effectsOf,
  ENDINGS,
  everythingOf,
  eventsOf,
  Gate,
  oneAfterAnother,
  leavesAnEffect,
  script,
  TENANT,
} from './probe.js';
import { OperationHarness, platformMigrations } from '../../src/operations/testing/index.js';

let one: OperationHarness;
let another: OperationHarness;

beforeAll(async () => {
  // Leases expire when a test decides, never because the machine is busy.
  const config = { leaseSeconds: 3600 };
  const migrations = [...platformMigrations, Effects1700000000099];
  one = await OperationHarness.start({ migrations, config });
  another = await one.startAnother(config);
});
afterAll(async () => {
  await another?.stop();
  await one?.stop();
});

const inTenant = <T>(work: (tx: Tx) => Promise<T>) => one.database.tx({ tenantId: TENANT }, work);
const cancel = (id: string) => inTenant((tx) => one.store.cancel(tx, id, ACTOR));
const retry = (id: string) => inTenant((tx) => one.store.retry(tx, id, ACTOR));
const stepsOf = (record: Record<string, any>) => record['steps'].map((step: any) => [step.name, step.status]);

describe('a worker whose lease another worker has taken', () => {
  it.each(Object.keys(ENDINGS))(
    'writes nothing when its step %s while its successor is still at the same step',
    async (ending) => {
      const [stale, current] = [new Gate(), new Gate()];
      const first = oneAfterAnother(behind(stale, ENDINGS[ending]!), behind(current, leavesAnEffect));
      const { begin } = script([one, another], { first, second: leavesAnEffect });
      const id = await begin();
      const driveOfStale = one.runner.drive(id);
      await stale.reached;
      await one.skipTime(id);
      const driveOfCurrent = another.runner.drive(id);
      await current.reached;

      const before = await everythingOf(one, id);
      stale.open();
      await driveOfStale;
      expect(await everythingOf(one, id)).toEqual(before);
      expect(first.count).toBe(2);

      current.open();
      await driveOfCurrent;
      const record = await one.record(TENANT, id);
      expect(record).toMatchObject({ status: 'succeeded', attempt: 1 });
      expect(await effectsOf(one, id)).toEqual(['first', 'second']);
      expect(await eventsOf(one, id)).toEqual(['running', 'succeeded']);
    },
  );

  it('does not continue with the next step either', async () => {
    const [stale, current] = [new Gate(), new Gate()];
    const second = oneAfterAnother(behind(stale, leavesAnEffect), behind(current, leavesAnEffect));
    const third = oneAfterAnother(leavesAnEffect);
    const id = await script([one, another], { first: leavesAnEffect, second, third }).begin();
    const driveOfStale = one.runner.drive(id);
    await stale.reached;
    await one.skipTime(id);
    const driveOfCurrent = another.runner.drive(id);
    await current.reached;
    stale.open();
    await driveOfStale;
    expect([second.count, third.count]).toEqual([2, 0]);
    current.open();
    await driveOfCurrent;
    expect([second.count, third.count]).toEqual([2, 1]);
    expect(await effectsOf(one, id)).toEqual(['first', 'second', 'third']);
  });

  it('writes nothing in an undo step', async () => {
    const [stale, current] = [new Gate(), new Gate()];
    const run = oneAfterAnother(behind(stale, leavesAnEffect), behind(current, leavesAnEffect));
    const { begin } = script(
      [one, another],
      { first: ENDINGS['fails for good']! },
      { unwind: [{ name: 'undo', undoes: ['first'], run }] },
    );
    const id = await begin();
    const driveOfStale = one.runner.drive(id);
    await stale.reached;
    await one.skipTime(id);
    const driveOfCurrent = another.runner.drive(id);
    await current.reached;
    const before = await everythingOf(one, id);
    stale.open();
    await driveOfStale;
    expect(await everythingOf(one, id)).toEqual(before);
    current.open();
    await driveOfCurrent;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'failed', error_code: 'dependency_outage' });
    expect(await effectsOf(one, id)).toEqual(['undo']);
  });

  it('finds a held operation held, as every worker does, at each step and at the undo step', async () => {
    const gates = { first: new Gate(), second: new Gate(), undo: new Gate() };
    const first = oneAfterAnother(behind(gates.first, leavesAnEffect));
    const second = oneAfterAnother(behind(gates.second, ENDINGS['fails for good']!));
    const undo = oneAfterAnother(behind(gates.undo, leavesAnEffect));
    const unwind = [{ name: 'undo', undoes: ['first'], run: undo }];
    const id = await script([one, another], { first, second }, { unwind }).begin();
    const drive = one.runner.drive(id);
    for (const gate of Object.values(gates)) {
      await gate.reached;
      expect(await one.leaseOf(id)).toMatchObject({ isHeld: true });
      const before = await everythingOf(one, id);
      await Promise.all([another.runner.drive(id), one.runner.drive(id)]);
      expect(await everythingOf(one, id)).toEqual(before);
      gate.open();
    }
    await drive;
    expect([first.count, second.count, undo.count]).toEqual([1, 1, 1]);
  });

  it('does not change an operation that has ended', async () => {
    const first = oneAfterAnother(leavesAnEffect);
    const id = await script([one, another], { first }).begin();
    await one.runner.drive(id);
    const before = await everythingOf(one, id);
    await Promise.all([one.runner.drive(id), another.runner.drive(id)]);
    await one.skipTime(id);
    await another.runner.drive(id);
    expect(await everythingOf(one, id)).toEqual(before);
    expect(first.count).toBe(1);
  });
});

describe('a cancel that is accepted while a step runs', () => {
  it.each(Object.keys(ENDINGS))('lets the step commit nothing when it %s', async (ending) => {
    const gate = new Gate();
    const second = oneAfterAnother(leavesAnEffect);
    const id = await script([one], { first: behind(gate, ENDINGS[ending]!), second }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    await cancel(id);
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'cancelling', cancel_requested: true });
    gate.open();
    await drive;
    const record = await one.record(TENANT, id);
    expect(await effectsOf(one, id)).toEqual([]);
    expect(second.count).toBe(0);
    // A permanent failure that comes first is the reason for the unwind. Any other result of the step yields to the
    // cancel.
    const [status, code] =
      ending === 'fails for good' ? ['failed', 'dependency_outage'] : ['cancelled', 'cancelled_by_user'];
    expect(record).toMatchObject({ status, error_code: code, current_step: 'first', current_step_status: status });
    expect(stepsOf(record)).toEqual([
      ['first', status],
      ['second', 'pending'],
    ]);
    expect(await eventsOf(one, id)).toEqual(['running', 'cancelling', status]);
  });

  it('is discarded by a retry if the operation failed nevertheless', async () => {
    const gate = new Gate();
    const first = oneAfterAnother(behind(gate, ENDINGS['fails for good']!), leavesAnEffect);
    const id = await script([one], { first }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    await cancel(id);
    gate.open();
    await drive;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'failed', retryable: true });
    await retry(id);
    expect(await one.finish(TENANT, id)).toMatchObject({ status: 'succeeded', cancel_requested: false });
  });

  it('appends one event for two requests', async () => {
    const gate = new Gate();
    const id = await script([one], { first: behind(gate, leavesAnEffect) }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    await cancel(id);
    await cancel(id);
    gate.open();
    await drive;
    expect(await eventsOf(one, id)).toEqual(['running', 'cancelling', 'cancelled']);
  });
});

describe('the point of no return', () => {
  const withPoint = (third: Gate | undefined) =>
    script(
      [one],
      {
        first: leavesAnEffect,
        point: leavesAnEffect,
        third: third ? behind(third, leavesAnEffect) : async () => sleep({ forMs: 60_000, status: 'waiting' }),
      },
      { pointOfNoReturn: 'point' },
    );

  it('refuses the cancel of an operation that has committed it and still runs', async () => {
    const gate = new Gate();
    const id = await withPoint(gate).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    const before = await everythingOf(one, id);
    await expect(cancel(id)).rejects.toMatchObject({ code: 'operation_not_cancellable', status: 409 });
    expect(await everythingOf(one, id)).toEqual(before);
    gate.open();
    await drive;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'succeeded', cancel_requested: false });
    expect(await effectsOf(one, id)).toEqual(['first', 'point', 'third']);
  });

  it('refuses the cancel of an operation that sleeps after it', async () => {
    const id = await withPoint(undefined).begin();
    await one.runner.drive(id);
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'waiting', current_step: 'third' });
    await expect(cancel(id)).rejects.toMatchObject({ code: 'operation_not_cancellable' });
  });

  it('is not passed before its commit', async () => {
    const gate = new Gate();
    const { begin } = script(
      [one],
      { point: behind(gate, leavesAnEffect), second: leavesAnEffect },
      { pointOfNoReturn: 'point' },
    );
    const id = await begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    await cancel(id);
    gate.open();
    await drive;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'cancelled' });
    expect(await effectsOf(one, id)).toEqual([]);
  });
});

describe('an operation that unwinds', () => {
  it('cannot be cancelled', async () => {
    const gate = new Gate();
    const { begin } = script(
      [one],
      { first: ENDINGS['fails for good']! },
      { unwind: [{ name: 'undo', undoes: ['first'], run: behind(gate, async () => done()) }] },
    );
    const id = await begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    await expect(cancel(id)).rejects.toMatchObject({ code: 'operation_not_cancellable' });
    gate.open();
    await drive;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'failed', cancel_requested: false });
  });
});

describe('an operation that another supersedes', () => {
  const supersede = (id: string) => inTenant((tx) => one.store.supersede(tx, id, { id: 'op_next', actor: ACTOR }));

  it.each(Object.keys(ENDINGS))('has ended at once, and its worker writes nothing when its step %s', async (ending) => {
    const gate = new Gate();
    const id = await script([one], { first: behind(gate, ENDINGS[ending]!), second: leavesAnEffect }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    await supersede(id);
    const before = await everythingOf(one, id);
    gate.open();
    await drive;
    expect(await everythingOf(one, id)).toEqual(before);
    const record = await one.record(TENANT, id);
    expect(record).toMatchObject({
      status: 'cancelled',
      error_code: 'superseded',
      superseded_by: 'op_next',
      retryable: false,
      current_step_status: 'cancelled',
      completed_at: expect.any(String),
    });
    expect(stepsOf(record)).toEqual([
      ['first', 'cancelled'],
      ['second', 'pending'],
    ]);
    expect(await eventsOf(one, id)).toEqual(['running', 'cancelled']);
    await expect(retry(id)).rejects.toMatchObject({ code: 'operation_not_retryable' });
    await expect(cancel(id)).rejects.toMatchObject({ code: 'operation_not_cancellable' });
  });
});

describe('the effect of a commit', () => {
  it('is rolled back if the guard refuses the commit', async () => {
    // The cancel comes between the step's own writes and the guarded one.
    const { begin } = script([one], {
      first: async (context) =>
        done({
          commit: async (tx) => {
            await effect(tx, context);
            await beside(() => cancel(context.operation.id));
          },
        }),
    });
    const id = await begin();
    await one.runner.drive(id);
    expect(await effectsOf(one, id)).toEqual([]);
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'cancelled' });
  });

  it('is also rolled back with the commit that begins the unwind', async () => {
    const [stale, current] = [new Gate(), new Gate()];
    const fails = async () => {
      throw new StepFailed(operationFailures.internal, 'broken');
    };
    const { begin } = script(
      [one, another],
      { first: oneAfterAnother(behind(stale, fails), behind(current, fails)) },
      { beginUnwind: (tx, operation) => tx.query('insert into effects values ($1)', [operation.input.world]).then() },
    );
    const id = await begin();
    const driveOfStale = one.runner.drive(id);
    await stale.reached;
    await one.skipTime(id);
    const driveOfCurrent = another.runner.drive(id);
    await current.reached;
    stale.open();
    await driveOfStale;
    expect(await effectsOf(one, id)).toEqual([]);
    current.open();
    await driveOfCurrent;
    expect(await effectsOf(one, id)).toHaveLength(1);
  });
});
