import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Database } from '@slipway/platform-database';
import { done, sleep, type StepContext } from '../../src/operations/index.js';
import {
  ACTOR,
  behind,
  Effects1700000000099,
  effectsOf,
  Gate,
  oneAfterAnother,
  leavesAnEffect,
  script,
  TENANT,
  until,
  type World,
} from './probe.js';
import { OperationHarness, platformMigrations } from '../../src/operations/testing/index.js';

/** No lease expires while a busy machine pauses; time passes when a test decides. */
const LEASE_SECONDS = 3600;
const THIRD_MS = (LEASE_SECONDS * 1_000) / 3;
/** Everything except intervals, which renew the leases. */
const REAL = [
  ...(['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask', 'setImmediate', 'clearImmediate'] as const),
  ...(['setTimeout', 'clearTimeout'] as const),
];

let one: OperationHarness;
let another: OperationHarness;

beforeAll(async () => {
  jest.useFakeTimers({ doNotFake: REAL });
  const config = { leaseSeconds: LEASE_SECONDS };
  const migrations = [...platformMigrations, Effects1700000000099];
  one = await OperationHarness.start({ migrations, config });
  another = await one.startAnother(config);
});
afterAll(async () => {
  await another?.stop();
  await one?.stop();
  jest.useRealTimers();
});
afterEach(() => void jest.restoreAllMocks());

/** The seconds that are left of an operation's lease. */
async function secondsLeft(id: string): Promise<number> {
  const [row] = await one.database.read<{ left: number }>(
    'system',
    `select extract(epoch from lease_expires_at - now())::float8 as left from operations where id = $1`,
    [id],
  );
  return row!.left;
}

/** Lets a third of the lease pass, after which both processes renew the leases that they hold. */
async function passThird(id: string): Promise<void> {
  await one.database.tx('system', (tx) =>
    tx.query(`update operations set lease_expires_at = lease_expires_at - make_interval(secs => $2) where id = $1`, [
      id,
      LEASE_SECONDS / 3,
    ]),
  );
  jest.advanceTimersByTime(THIRD_MS);
}

const isWhole = async (id: string) => (await secondsLeft(id)) > LEASE_SECONDS * 0.9;

/** Ends when the signal is aborted. */
const aborted = async ({ signal }: StepContext<World>) => {
  await new Promise((resolve) => (signal.aborted ? resolve(undefined) : signal.addEventListener('abort', resolve)));
  return done();
};

describe('a lease', () => {
  it('is kept for a step that takes longer, and no other worker gets it while its holder lives', async () => {
    const gate = new Gate();
    const first = oneAfterAnother(behind(gate, leavesAnEffect));
    const id = await script([one, another], { first }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    const { leaseVersion } = await one.leaseOf(id);
    for (const third of [1, 2, 3, 4]) {
      await passThird(id);
      await until(`renewal ${third}`, () => isWhole(id));
      await another.runner.drive(id);
      expect([first.count, await one.leaseOf(id)]).toEqual([1, { leaseVersion, isHeld: true }]);
    }
    gate.open();
    await drive;
    expect(await effectsOf(one, id)).toEqual(['first']);
  });

  it('is not lost when one renewal fails, and the step is not aborted', async () => {
    const gate = new Gate();
    let signal: AbortSignal | undefined;
    const run = async (context: StepContext<World>) => {
      ({ signal } = context);
      return behind(gate, leavesAnEffect)(context);
    };
    const id = await script([one], { first: run }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    const away = jest.spyOn(one.database, 'read').mockRejectedValue(new Error('Postgres is away'));
    jest.advanceTimersByTime(THIRD_MS);
    expect(away).toHaveBeenCalledTimes(1);
    away.mockRestore();
    await passThird(id);
    await until('the next renewal', () => isWhole(id));
    expect(signal?.aborted).toBe(false);
    gate.open();
    await drive;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'succeeded' });
  });

  it('is renewed for the successor in the same process when the run that lost it ends', async () => {
    const [stale, current] = [new Gate(), new Gate()];
    const first = oneAfterAnother(behind(stale, leavesAnEffect), behind(current, leavesAnEffect));
    const id = await script([one], { first }).begin();
    const driveOfStale = one.runner.drive(id);
    await stale.reached;
    await one.skipTime(id);
    const driveOfCurrent = one.runner.drive(id);
    await current.reached;
    stale.open();
    await driveOfStale;
    await passThird(id);
    await until('its renewal', () => isWhole(id));
    current.open();
    await driveOfCurrent;
    expect(first.count).toBe(2);
  });

  it('is not given to a sleeping operation whose worker does not know yet that it sleeps', async () => {
    const id = await script([one], { first: async () => sleep({ forMs: 60_000, status: 'waiting' }) }).begin();
    const renewals = jest.spyOn(one.database, 'read');
    const once = one.database.once.bind(one.database);
    jest.spyOn(one.database, 'once').mockImplementation(async (...asked: Parameters<Database['once']>) => {
      const answer = await once(...asked);
      const [, statement] = asked;
      if (typeof statement !== 'string' && statement.name.startsWith('operation-commit')) {
        jest.advanceTimersByTime(THIRD_MS);
        await Promise.all(renewals.mock.results.map(({ value }) => value));
      }
      return answer as never;
    });
    await one.runner.drive(id);
    expect(renewals).toHaveBeenCalled();
    expect(await one.leaseOf(id)).toEqual({ leaseVersion: '1', isHeld: false });
  });

  it('is taken with the current steps once the row is free, not with those from before the wait for the row', async () => {
    const [first, second] = [oneAfterAnother(leavesAnEffect), oneAfterAnother(leavesAnEffect)];
    const id = await script([one, another], { first, second }).begin();
    const gate = new Gate();
    const elsewhere = one.database.tx('system', async (tx) => {
      const held = `update operations set lease_version = lease_version + 1, status = 'running', current_step = 'second' where id = $1`;
      await tx.query(held, [id]);
      await tx.query(`update operation_steps set status = 'succeeded' where operation_id = $1 and name = 'first'`, [
        id,
      ]);
      await gate.pass();
    });
    await gate.reached;
    const taking = another.runner.drive(id);
    const waits = `select count(*)::int as n from pg_locks where not granted`;
    await until(
      'it waits for the row',
      async () => (await one.database.read<{ n: number }>('system', waits))[0]!.n > 0,
    );
    gate.open();
    await Promise.all([elsewhere, taking]);
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'succeeded' });
    expect([first.count, second.count]).toEqual([0, 1]);
  });

  it('is no longer renewed once its drive has ended', async () => {
    const id = await script([one], { first: async () => sleep({ forMs: 60_000, status: 'waiting' }) }).begin();
    await one.runner.drive(id);
    const renewals = jest.spyOn(one.database, 'read');
    jest.advanceTimersByTime(THIRD_MS);
    expect(renewals).not.toHaveBeenCalled();
    expect(await one.leaseOf(id)).toMatchObject({ isHeld: false });
  });

  it('is taken over once it has expired, which counts as an attempt, and not before', async () => {
    const brief = await one.startAnother({ leaseSeconds: 1 });
    try {
      const gate = new Gate();
      const first = oneAfterAnother(behind(gate, leavesAnEffect), leavesAnEffect);
      const id = await script([brief, another], { first }).begin();
      // This drive never returns: its process counts as dead.
      void brief.runner.drive(id);
      await gate.reached;
      const { leaseVersion } = await brief.abandon(id);
      const steals = async () => {
        await another.runner.drive(id);
        return first.count > 1;
      };
      const startedAt = (await one.record(TENANT, id))['steps'][0].started_at;
      await until('it is taken over', steals);
      const record = await one.record(TENANT, id);
      expect(record).toMatchObject({ status: 'succeeded', attempt: 2 });
      expect(Date.parse(record['completed_at']) - Date.parse(startedAt)).toBeGreaterThanOrEqual(1_000);
      expect(Number((await one.leaseOf(id)).leaseVersion)).toBe(Number(leaseVersion) + 1);
      expect(await effectsOf(one, id)).toEqual(['first']);
    } finally {
      await brief.stop();
    }
  });
});

describe('a running step', () => {
  it('is aborted at the next renewal after a cancel', async () => {
    const gate = new Gate();
    const id = await script([one], { first: behind(gate, aborted) }).begin();
    const drive = one.runner.drive(id);
    await gate.reached;
    gate.open();
    await one.database.tx({ tenantId: TENANT }, (tx) => one.store.cancel(tx, id, ACTOR));
    jest.advanceTimersByTime(THIRD_MS);
    await drive;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'cancelled' });
  });

  it('is aborted at the next renewal after another worker has taken its lease', async () => {
    const [stale, current] = [new Gate(), new Gate()];
    const first = oneAfterAnother(behind(stale, aborted), behind(current, leavesAnEffect));
    const id = await script([one, another], { first }).begin();
    const driveOfStale = one.runner.drive(id);
    await stale.reached;
    stale.open();
    await one.skipTime(id);
    const driveOfCurrent = another.runner.drive(id);
    await current.reached;
    jest.advanceTimersByTime(THIRD_MS);
    await driveOfStale;
    current.open();
    await driveOfCurrent;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'succeeded' });
    expect(first.count).toBe(2);
  });
});

it('gives up on a step whose worker dies each time', async () => {
  let runs = 0;
  let tell: () => void = () => undefined;
  const first = () => {
    runs += 1;
    tell();
    return new Promise<never>(() => undefined);
  };
  const id = await script([one], { first }).begin();
  for (let death = 1; death <= 5; death += 1) {
    const begun = new Promise<void>((resolve) => (tell = resolve));
    void one.runner.drive(id);
    await begun;
    expect(await one.record(TENANT, id)).toMatchObject({ status: 'running', attempt: death });
    await one.abandon(id);
    await one.skipTime(id);
  }
  await one.runner.drive(id);
  expect(runs).toBe(5);
  expect(await one.record(TENANT, id)).toMatchObject({
    status: 'failed',
    error_code: 'attempts_exhausted',
    message: 'Step first failed 5 times: its worker died each time',
    retryable: true,
  });
});

describe('the age of a step', () => {
  it('is measured by Postgres, whatever the clock of the worker shows', async () => {
    const ages: number[] = [];
    const begins: Date[] = [];
    const first = ({ step }: StepContext<unknown>) => {
      ages.push(step.elapsedMs());
      begins.push(step.startedAt);
      return Promise.resolve(ages.length === 1 ? sleep({ forMs: 0, status: 'waiting', message: 'waits' }) : done());
    };
    const id = await script([one], { first }).begin();
    const now = Date.now;
    jest.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    await one.runner.drive(id);
    const [step] = (await one.record(TENANT, id))['steps'];
    expect(begins[0]!.getTime()).toBe(Date.parse(step.started_at));
    await one.database.tx('system', (tx) =>
      tx.query(`update operation_steps set started_at = started_at - interval '1 minute' where operation_id = $1`, [
        id,
      ]),
    );
    await until('it is over', async () => {
      await one.runner.drive(id);
      return ages.length > 1;
    });
    expect(ages[0]).toBeGreaterThanOrEqual(0);
    expect(ages[0]).toBeLessThan(30_000);
    expect(ages[1]).toBeGreaterThan(59_000);
    expect(ages[1]).toBeLessThan(90_000);
  });
});
