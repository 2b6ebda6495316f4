import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { newId, type Tx } from '@slipway/platform-database';
import { dispatch, done, sleep, wake } from '../../src/operations/index.js';
import {
  ACTOR,
  claimOf,
  PROBE,
  behind,
  effect,
  Effects1700000000099,
  effectsOf,
  eventsOf,
  everythingOf,
  Gate,
  oneAfterAnother,
  leavesAnEffect,
  script,
  TENANT,
  type Run,
} from './probe.js';
import { OperationHarness, platformMigrations, testPrincipal } from '../../src/operations/testing/index.js';

let harness: OperationHarness;

beforeAll(async () => {
  // No lease expires by itself.
  harness = await OperationHarness.start({
    migrations: [...platformMigrations, Effects1700000000099],
    config: { leaseSeconds: 3600 },
  });
});
afterAll(() => harness?.stop());
afterEach(() => void jest.restoreAllMocks());

const inTenant = <T>(work: (tx: Tx) => Promise<T>) => harness.database.tx({ tenantId: TENANT }, work);
const drive = (id: string) => harness.runner.drive(id);
const record = (id: string) => harness.record(TENANT, id);
const fails: Run = async () => {
  throw new Error('flaky');
};
/**
 * Milliseconds between a row's last change and its next wake-up. They are exact, because one transaction writes both
 * and the dispatch.
 */
async function sleepOf(id: string): Promise<number> {
  const [row] = await harness.database.read<{ ms: number; isSent: boolean }>(
    'system',
    'select (extract(epoch from wake_at - updated_at) * 1000)::float8 as ms, dispatched_at = wake_at as "isSent" from operations where id = $1',
    [id],
  );
  expect(row!.isSent).toBe(true);
  return row!.ms;
}

describe('an operation that waits for a person', () => {
  const asks =
    (seen: boolean[]): Run =>
    async (context) => {
      seen.push(context.resumed);
      return context.resumed ? leavesAnEffect(context) : sleep({ status: 'waiting', waitingFor: 'approval' });
    };

  it('runs when it was resumed, and each step needs a resume of its own', async () => {
    const [first, second]: boolean[][] = [[], []];
    const id = await script([harness], { first: asks(first!), second: asks(second!) }).begin();
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'waiting', current_step: 'first' });
    for (const step of ['first', 'second']) {
      const before = await everythingOf(harness, id);
      await drive(id);
      expect(await everythingOf(harness, id)).toEqual(before);
      expect(await record(id)).toMatchObject({ status: 'waiting', current_step: step });
      await inTenant((tx) => harness.store.resume(tx, id, { ...testPrincipal(TENANT), actor: ACTOR }));
      await drive(id);
    }
    expect([first, second]).toEqual([
      [false, true],
      [false, true],
    ]);
    expect(await record(id)).toMatchObject({ status: 'succeeded' });
    expect(await eventsOf(harness, id)).toEqual(['running', 'waiting', 'running', 'waiting', 'running', 'succeeded']);
  });

  it('is not woken by anything else', async () => {
    const seen: boolean[] = [];
    const id = await script([harness], { first: asks(seen) }).begin();
    await drive(id);
    await harness.database.tx('system', (tx) => wake(tx, id));
    await drive(id);
    await harness.database.tx('system', (tx) => dispatch(tx, id));
    await drive(id);
    expect(seen).toEqual([false]);
  });

  it('cannot be resumed while it does not wait for a person', async () => {
    const gate = new Gate();
    const id = await script([harness], { first: behind(gate, leavesAnEffect) }).begin();
    const resume = () => inTenant((tx) => harness.store.resume(tx, id, { ...testPrincipal(TENANT), actor: ACTOR }));
    await expect(resume()).rejects.toMatchObject({ code: 'operation_not_paused' });
    const driving = drive(id);
    await gate.reached;
    await expect(resume()).rejects.toMatchObject({ code: 'operation_not_paused' });
    gate.open();
    await driving;
    await expect(resume()).rejects.toMatchObject({ code: 'operation_not_paused' });
  });

  it('can be cancelled', async () => {
    const id = await script([harness], { first: asks([]) }).begin();
    await drive(id);
    await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'cancelled' });
  });
});

describe('a sleep', () => {
  const sleeper = (forMs: number) =>
    oneAfterAnother(
      async () => sleep({ forMs, status: 'waiting', message: 'so far', state: { n: 1 } }),
      leavesAnEffect,
    );

  it('lasts as long as requested, and ends at once when the operation is woken', async () => {
    const first = sleeper(60_000);
    const id = await script([harness], { first }).begin();
    await drive(id);
    expect(await sleepOf(id)).toBeCloseTo(60_000, 0);
    expect(await record(id)).toMatchObject({ status: 'waiting', message: 'so far', attempt: 1 });
    await drive(id);
    expect(first.count).toBe(1);
    await harness.database.tx('system', (tx) => wake(tx, id));
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'succeeded', attempt: 1 });
  });

  it('keeps its state for the step, and for that step only', async () => {
    const states: unknown[] = [];
    const remembers: Run = async (context) => {
      states.push(context.state);
      return context.state
        ? leavesAnEffect(context)
        : sleep({ forMs: 1, status: 'running', state: { n: states.length } });
    };
    const id = await script([harness], { first: remembers, second: remembers }).begin();
    await harness.finish(TENANT, id);
    expect(states).toEqual([null, { n: 1 }, null, { n: 3 }]);
  });

  it('appends no event if the status stays the same', async () => {
    const first = oneAfterAnother(async () => sleep({ forMs: 1, status: 'running' }), leavesAnEffect);
    const id = await script([harness], { first }).begin();
    await harness.finish(TENANT, id);
    expect(await eventsOf(harness, id)).toEqual(['running', 'succeeded']);
  });
});

describe('a step that fails temporarily', () => {
  it('is retried after twice the delay each time, and gives the lease back meanwhile', async () => {
    const id = await script([harness], { first: oneAfterAnother(fails, fails, fails, fails, leavesAnEffect) }).begin();
    for (const [tries, pauseMs] of [400, 800, 1_600, 3_200].entries()) {
      await drive(id);
      expect(await sleepOf(id)).toBeCloseTo(pauseMs, 0);
      expect(await record(id)).toMatchObject({
        status: 'running',
        attempt: tries + 2,
        message: `Attempt ${tries + 1} failed: flaky`,
      });
      expect(await harness.leaseOf(id)).toMatchObject({ isHeld: false });
      await harness.skipTime(id);
    }
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'succeeded', attempt: 5, message: '' });
  });

  it('leaves the next step all of its attempts', async () => {
    const second = oneAfterAnother(fails, fails, fails, fails, leavesAnEffect);
    const id = await script([harness], { first: oneAfterAnother(fails, fails, fails, leavesAnEffect), second }).begin();
    expect(await harness.finish(TENANT, id)).toMatchObject({ status: 'succeeded', attempt: 5 });
    expect(second.count).toBe(5);
  });
});

describe('a worker that loses Postgres', () => {
  it('leaves the operation to its lease when not even a failure can be recorded', async () => {
    const { database } = harness;
    const [tx, once] = [database.tx.bind(database), database.once.bind(database)];
    let isAway = false;
    const whileThere = <T>(work: () => Promise<T>): Promise<T> =>
      isAway ? Promise.reject(new Error('Postgres is away')) : work();
    const loses: Run = async (context) => {
      isAway = true;
      return leavesAnEffect(context);
    };
    const id = await script([harness], {
      first: oneAfterAnother(loses, leavesAnEffect),
      second: leavesAnEffect,
    }).begin();
    jest
      .spyOn(database, 'tx')
      .mockImplementation((scope, work, options) => whileThere(() => tx(scope, work as never, options)));
    jest.spyOn(database, 'once').mockImplementation((...asked) => whileThere(() => once(...asked) as never));
    await drive(id);
    jest.restoreAllMocks();
    expect(await record(id)).toMatchObject({ status: 'running', current_step: 'first', attempt: 1 });
    expect(await harness.leaseOf(id)).toMatchObject({ isHeld: true });
    await harness.skipTime(id);
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'succeeded' });
    expect(await effectsOf(harness, id)).toEqual(['first', 'second']);
  });

  it('repeats no step whose commit in one round trip succeeded without an answer', async () => {
    const { database } = harness;
    const once = database.once.bind(database);
    const [first, second] = [oneAfterAnother(async () => done()), oneAfterAnother(leavesAnEffect)];
    const id = await script([harness], { first, second }).begin();
    const sent = jest.spyOn(database, 'once');
    // The first call is the claim.
    sent.mockImplementationOnce(once).mockImplementationOnce(async (...asked) => {
      await once(...asked);
      throw new Error('Connection terminated unexpectedly');
    });
    expect(await harness.finish(TENANT, id)).toMatchObject({ status: 'succeeded' });
    expect([first.count, second.count]).toEqual([1, 1]);
    expect(sent.mock.calls.length).toBeGreaterThan(2);
  });

  it('repeats no step whose commit succeeded without an answer', async () => {
    const loseAnswerOf = loseAnswers();
    const loses: Run = async (context) =>
      done({
        commit: async (tx) => {
          await effect(tx, context);
          loseAnswerOf(tx);
        },
      });
    const [first, second] = [oneAfterAnother(loses), oneAfterAnother(loses)];
    const id = await script([harness], { first, second }).begin();
    await harness.finish(TENANT, id);
    expect([first.count, second.count]).toEqual([1, 1]);
    expect(await record(id)).toMatchObject({ status: 'succeeded', current_step: 'second', progress: 100 });
    expect(await effectsOf(harness, id)).toEqual(['first', 'second']);
    expect(await eventsOf(harness, id)).toEqual(['running', 'succeeded']);
  });

  it('continues an unwind whose first commit succeeded without an answer', async () => {
    const loseAnswerOf = loseAnswers();
    let begun = 0;
    const { begin } = script(
      [harness],
      { first: leavesAnEffect, second: async () => sleep({ forMs: 60_000, status: 'waiting' }) },
      {
        unwind: [{ name: 'undo', undoes: ['first'], run: leavesAnEffect }],
        beginUnwind: async (tx) => {
          begun += 1;
          loseAnswerOf(tx);
        },
      },
    );
    const id = await begin();
    await drive(id);
    await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
    const ended = await harness.finish(TENANT, id);
    expect(ended).toMatchObject({ status: 'cancelled', error_code: 'cancelled_by_user' });
    expect(begun).toBe(1);
    expect(await effectsOf(harness, id)).toEqual(['first', 'undo']);
  });

  it('runs a step again whose commit was lost', async () => {
    const loses: Run = async (context) =>
      done({
        commit: async (tx) => {
          await effect(tx, context);
          throw new Error('the connection was lost');
        },
      });
    const first = oneAfterAnother(loses, leavesAnEffect);
    const id = await script([harness], { first }).begin();
    await drive(id);
    expect(await record(id)).toMatchObject({ attempt: 2, message: 'Attempt 1 failed: the connection was lost' });
    await harness.skipTime(id);
    await drive(id);
    expect(first.count).toBe(2);
    expect(await effectsOf(harness, id)).toEqual(['first']);
  });
});

it.each([
  ['', undefined, []],
  ['; the effects of its acceptance are undone', true, ['undo']],
])(
  'cancels an operation that no worker has claimed yet, before any of its steps%s',
  async (_what, unwindsAcceptance, effects) => {
    const first = oneAfterAnother(leavesAnEffect);
    const unwind = [{ name: 'undo', undoes: ['first'], run: leavesAnEffect }];
    const id = await script([harness], { first }, { unwind, unwindsAcceptance }).begin();
    await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'cancelled', current_step: 'first' });
    expect([first.count, await effectsOf(harness, id)]).toEqual([0, effects]);
    expect(await eventsOf(harness, id)).toEqual(['cancelling', 'cancelled']);
  },
);

describe('an unwind that cannot begin', () => {
  it('is retried later, also after a cancel, and not in a tight loop', async () => {
    let begun = 0;
    const { begin } = script(
      [harness],
      { first: leavesAnEffect, second: async () => sleep({ forMs: 60_000, status: 'waiting' }) },
      {
        unwind: [{ name: 'undo', undoes: ['first'], run: leavesAnEffect }],
        beginUnwind: async () => {
          begun += 1;
          if (begun < 3) throw new Error('somebody holds the lock');
        },
      },
    );
    const id = await begin();
    await drive(id);
    await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
    for (const [tries, pauseMs] of [400, 800].entries()) {
      await drive(id);
      expect(begun).toBe(tries + 1);
      expect(await sleepOf(id)).toBeCloseTo(pauseMs, 0);
      expect(await record(id)).toMatchObject({ status: 'cancelling', attempt: tries + 2, cancel_requested: true });
      expect(await harness.leaseOf(id)).toMatchObject({ isHeld: false });
    }
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'cancelled', error_code: 'cancelled_by_user' });
    expect(await effectsOf(harness, id)).toEqual(['first', 'undo']);
  });
});

describe('an operation of a kind that this process does not know', () => {
  it('is left to a process that knows it, and no attempt is counted', async () => {
    const stranger = await harness.startAnother({ leaseSeconds: 3600 });
    try {
      const id = await script([harness], { first: leavesAnEffect }).begin();
      for (let time = 1; time <= 7; time += 1) {
        await stranger.runner.drive(id);
        expect(await record(id)).toMatchObject({ status: 'running', attempt: 1, current_step: 'first' });
        expect(await harness.leaseOf(id)).toMatchObject({ isHeld: false });
        expect(await sleepOf(id)).toBeCloseTo(5_000, 0);
        await harness.skipTime(id);
      }
      await drive(id);
      expect(await record(id)).toMatchObject({ status: 'succeeded', attempt: 1 });
    } finally {
      await stranger.stop();
    }
  });

  it('is left to a process that knows it, too, when its cancel is requested', async () => {
    const stranger = await harness.startAnother({ leaseSeconds: 3600 });
    try {
      const id = await script([harness], { first: leavesAnEffect }).begin();
      await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
      await stranger.runner.drive(id);
      expect(await harness.leaseOf(id)).toMatchObject({ isHeld: false });
      expect(await record(id)).toMatchObject({ status: 'cancelling' });
      await drive(id);
      expect(await record(id)).toMatchObject({ status: 'cancelled' });
    } finally {
      await stranger.stop();
    }
  });
});

it('ends an operation whose definition no longer has its current step', async () => {
  const { definition, begin } = script([harness], { first: leavesAnEffect, second: leavesAnEffect });
  const id = await begin();
  delete harness.definitions.find(definition.kind)!.steps['second'];
  expect(await harness.finish(TENANT, id)).toMatchObject({
    status: 'failed',
    error_code: 'internal',
    retryable: false,
    current_step: 'second',
  });
});

it('refuses a second implementation of a kind', () => {
  const { definition, operation } = script([harness], { first: leavesAnEffect });
  const twice = `operation ${definition.kind} has two implementations`;
  expect(() => harness.definitions.add(definition, operation)).toThrow(twice);
});

it('adopts no operation of another tenant, method or path by a key', async () => {
  const claim = (tenantId: string, method: string, path: string) =>
    harness.database.tx({ tenantId }, (tx) =>
      harness.store.claim(tx, claimOf(PROBE, { idempotency: { method, path, key: 'k2', fingerprint: 'a' } })),
    );
  const made = [
    await claim(TENANT, 'POST', '/x'),
    await claim(newId('ten'), 'POST', '/x'),
    await claim(TENANT, 'PUT', '/x'),
    await claim(TENANT, 'POST', '/y'),
  ];
  expect(made.map((one) => one.created)).toEqual([true, true, true, true]);
  expect(await claim(TENANT, 'POST', '/x')).toEqual({ id: made[0]!.id, created: false });
});

it('hides an operation from other tenants', async () => {
  const id = await script([harness], { first: leavesAnEffect }).begin();
  const other = { tenantId: newId('ten') };
  expect(await harness.database.tx(other, (tx) => harness.store.record(tx, id))).toBeUndefined();
  const { store } = harness;
  const principal = { ...testPrincipal(TENANT), actor: ACTOR };
  const changes: ((tx: Tx) => Promise<void>)[] = [
    (tx) => store.cancel(tx, id, ACTOR),
    (tx) => store.retry(tx, id, ACTOR),
    (tx) => store.pause(tx, id, principal),
    (tx) => store.resume(tx, id, principal),
    (tx) => store.promote(tx, id, principal, { to: 'full' }),
  ];
  for (const change of changes)
    await expect(harness.database.tx(other, change)).rejects.toMatchObject({
      code: 'operation_not_found',
      status: 404,
    });
});

/** Makes the given transaction commit although its caller gets an error. */
function loseAnswers(): (tx: Tx) => void {
  const { database } = harness;
  const tx = database.tx.bind(database);
  const marked = new Set<Tx>();
  jest.spyOn(database, 'tx').mockImplementation(async (scope, work, options) => {
    let open: Tx | undefined;
    const noted = (one: Tx) => {
      open = one;
      return work(one);
    };
    const value = await tx(scope, noted, options);
    if (marked.delete(open!)) throw new Error('the answer to COMMIT was lost');
    return value as never;
  });
  return (one) => void marked.add(one);
}
