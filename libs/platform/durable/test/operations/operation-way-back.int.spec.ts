import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Tx } from '@slipway/platform-database';
import {
  operationFailures,
  done,
  sleep,
  StepFailed,
  type OperationRow,
  type StepContext,
} from '../../src/operations/index.js';
import type { NewEvent } from '../../src/events/index.js';
import { renderMetrics } from '@slipway/platform-observability';
import {
  ACTOR,
  behind,
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
  type World,
} from './probe.js';
import { OperationHarness, platformMigrations } from '../../src/operations/testing/index.js';

let harness: OperationHarness;

beforeAll(async () => {
  // No lease expires by itself.
  harness = await OperationHarness.start({
    migrations: [...platformMigrations, Effects1700000000099],
    config: { leaseSeconds: 3600 },
  });
});
afterAll(() => harness?.stop());

const inTenant = <T>(work: (tx: Tx) => Promise<T>) => harness.database.tx({ tenantId: TENANT }, work);
const drive = (id: string) => harness.runner.drive(id);
const record = (id: string) => harness.record(TENANT, id);
const fails: Run = async () => {
  throw new Error('flaky');
};
const failsForGood: Run = async () => {
  throw new StepFailed(operationFailures.dependency_outage, 'away');
};
describe('an unwind', () => {
  const undo = (run: Run, undoes = ['first']) => ({ name: 'undo', undoes, run });

  it('is retried for as long as an outage may last, and gives the lease back after each attempt', async () => {
    const run = oneAfterAnother(fails, fails, fails, fails, fails, fails, fails, leavesAnEffect);
    const { begin } = script([harness], { first: failsForGood }, { unwind: [undo(run)] });
    const id = await begin();
    for (let tries = 1; tries <= 7; tries += 1) {
      await drive(id);
      expect(run.count).toBe(tries);
      expect(await record(id)).toMatchObject({ status: 'running', attempt: Math.min(tries + 1, 5) });
      expect(await harness.leaseOf(id)).toMatchObject({ isHeld: false });
      await harness.skipTime(id);
    }
    await drive(id);
    expect(await record(id)).toMatchObject({
      status: 'failed',
      error_code: 'dependency_outage',
      message: 'away',
      current_step: 'first',
      current_step_status: 'failed',
    });
  });

  it('ends as failed if it never succeeds, and counts the operation as stuck', async () => {
    const finished: unknown[] = [];
    const finish = async (_tx: Tx, _operation: OperationRow, outcome: string) => void finished.push(outcome);
    const { begin } = script([harness], { first: failsForGood }, { unwind: [undo(fails)], finish });
    const id = await begin();
    for (let tries = 0; tries < 6; tries += 1) {
      await drive(id);
      await harness.skipTime(id);
    }
    expect(await record(id)).toMatchObject({ status: 'running', attempt: 5 });
    await harness.database.tx('system', (tx) =>
      tx.query(
        `update operation_steps set started_at = now() - interval '601 seconds' where operation_id = $1 and name = 'undo'`,
        [id],
      ),
    );
    await drive(id);
    expect(await record(id)).toMatchObject({
      status: 'failed',
      error_code: 'attempts_exhausted',
      message: 'Undo step undo failed: flaky. Reason for the undo: away',
      retryable: true,
      current_step: 'first',
      steps: [
        expect.objectContaining({ status: 'failed' }),
        expect.objectContaining({ name: 'undo', status: 'failed' }),
      ],
    });
    expect(finished).toEqual(['failed']);
    expect((await renderMetrics()).body).toMatch(/^slipway_operations_stuck_total\{[^}]*\} 1$/m);
  });

  it('continues with the same cause after the death of a worker', async () => {
    for (const [first, end] of [
      [failsForGood, { status: 'failed', error_code: 'dependency_outage', message: 'away' }],
      [leavesAnEffect, { status: 'cancelled', error_code: 'cancelled_by_user', retryable: false }],
    ] as const) {
      const gate = new Gate();
      const isCancelled = first === leavesAnEffect;
      const second = async () => sleep({ forMs: 60_000, status: 'waiting' });
      const { begin } = script([harness], isCancelled ? { first, second } : { first }, {
        unwind: [
          undo(oneAfterAnother(behind(gate, leavesAnEffect), leavesAnEffect)),
          { ...undo(leavesAnEffect), name: 'undo2' },
        ],
      });
      const id = await begin();
      if (isCancelled) {
        await drive(id);
        await inTenant((tx) => harness.store.cancel(tx, id, ACTOR));
      }
      void drive(id);
      await gate.reached;
      await harness.abandon(id);
      await harness.skipTime(id);
      await drive(id);
      expect(await record(id)).toMatchObject(end);
      expect((await effectsOf(harness, id)).filter((step) => step !== 'first')).toEqual(['undo', 'undo2']);
    }
  });

  it('runs only the steps that undo what has begun, and ends at once if there are none', async () => {
    const seen: string[] = [];
    const notes: Run = async ({ step }) => {
      seen.push(step.name);
      return done();
    };
    const { begin } = script(
      [harness],
      { first: leavesAnEffect, second: failsForGood, third: leavesAnEffect },
      {
        unwind: [
          { name: 'undo_third', undoes: ['third'], run: notes },
          { name: 'undo_second', undoes: ['second', 'third'], run: notes },
          { name: 'undo_first', undoes: ['first'], run: notes },
        ],
      },
    );
    const ended = await harness.finish(TENANT, await begin());
    expect(seen).toEqual(['undo_second', 'undo_first']);
    expect(ended['steps'].map((step: any) => [step.name, step.status, step.index])).toEqual([
      ['first', 'undone', 0],
      ['second', 'failed', 1],
      ['third', 'pending', 2],
      ['undo_second', 'succeeded', 3],
      ['undo_first', 'succeeded', 4],
    ]);
    const bare = await harness.finish(TENANT, await script([harness], { first: failsForGood }).begin());
    expect(bare).toMatchObject({ status: 'failed', current_step: 'first', current_step_status: 'failed' });
  });

  it('also runs again when a retry fails', async () => {
    const run = oneAfterAnother(leavesAnEffect);
    const { begin } = script([harness], { first: failsForGood }, { unwind: [undo(run)] });
    const id = await begin();
    await harness.finish(TENANT, id);
    await inTenant((tx) => harness.store.retry(tx, id, ACTOR));
    expect(await harness.finish(TENANT, id)).toMatchObject({ status: 'failed', error_code: 'dependency_outage' });
    expect(run.count).toBe(2);
  });

  it('is shown as a cancel, if it is one, until it has ended', async () => {
    const second: Run = async () => sleep({ forMs: 60_000, status: 'waiting' });
    const unwind = [
      { name: 'undo1', undoes: ['first'], run: leavesAnEffect },
      undo(oneAfterAnother(fails, async () => sleep({ forMs: 1, status: 'waiting' }), leavesAnEffect)),
    ];
    const cancelled = await script([harness], { first: leavesAnEffect, second }, { unwind }).begin();
    await drive(cancelled);
    await inTenant((tx) => harness.store.cancel(tx, cancelled, ACTOR));
    for (const status of ['cancelling', 'cancelling', 'cancelled']) {
      await drive(cancelled);
      expect(await record(cancelled)).toMatchObject({ status });
      if (status === 'cancelling') await harness.skipTime(cancelled);
    }
    expect(await eventsOf(harness, cancelled)).toEqual(['running', 'waiting', 'cancelling', 'cancelled']);
  });
});

describe('a retry', () => {
  it('continues at the step that failed, and repeats nothing that was not undone', async () => {
    const [first, second] = [oneAfterAnother(leavesAnEffect), oneAfterAnother(failsForGood, leavesAnEffect)];
    const id = await script([harness], { first, second, third: leavesAnEffect }).begin();
    await harness.finish(TENANT, id);
    await inTenant((tx) => harness.store.retry(tx, id, ACTOR));
    expect(await record(id)).toMatchObject({ status: 'pending', current_step: 'second', progress: 33 });
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'succeeded' });
    expect([first.count, second.count]).toEqual([1, 2]);
    expect(await effectsOf(harness, id)).toEqual(['first', 'second', 'third']);
    expect(await eventsOf(harness, id)).toEqual(['running', 'failed', 'pending', 'running', 'succeeded']);
  });
});

describe('the implementation of an operation', () => {
  const told = (type: string): NewEvent => ({ type, subject: 'things/x', actor: ACTOR, data: {} });
  const events = async (id: string) => {
    const rows = await harness.database.read<{ type: string }>(
      'system',
      'select type from events where stream = $1 order by sequence',
      [`operation/${id}`],
    );
    return rows.map((row) => row.type);
  };

  it('is committed with the steps and the end: results, evidence and events', async () => {
    const contexts: StepContext<World>[] = [];
    const notes =
      (outcome: Parameters<typeof done>[0]): Run =>
      async (context) => {
        contexts.push(context);
        return done(outcome);
      };
    let finished: [OperationRow, string] | undefined;
    const { begin } = script(
      [harness],
      {
        first: notes({ result: { n: 1 }, evidence: { seen: 1 }, message: 'well', operationResult: { a: 1, b: 1 } }),
        'many:2': notes({ skipped: true, commit: async () => ({ events: [told('thing.done')] }) }),
        last: notes({ operationResult: { b: 2 } }),
      },
      {
        stepEvent: 'thing.advanced',
        finish: async (_tx, operation, outcome) => {
          finished = [operation, outcome];
          return { result: { c: 3 }, events: [told('thing.finished')] };
        },
      },
    );
    const id = await begin();
    await drive(id);
    const ended = await record(id);
    expect(ended).toMatchObject({ status: 'succeeded', progress: 100, result: { a: 1, b: 2, c: 3 } });
    expect(ended['steps']).toMatchObject([
      { name: 'first', status: 'succeeded', message: 'well', evidence: { seen: 1 } },
      { name: 'many:2', status: 'skipped', evidence: null },
      { name: 'last', status: 'succeeded' },
    ]);
    expect(finished?.[1]).toBe('succeeded');
    expect(finished?.[0].result).toEqual({ a: 1, b: 2 });
    expect(contexts.map(({ results, step, effectKey }) => [results, step.number, effectKey])).toEqual([
      [{}, 0, `${id}-first`],
      [{ first: { n: 1 } }, 2, `${id}-many:2`],
      [{ first: { n: 1 } }, 0, `${id}-last`],
    ]);
    expect(await events(id)).toEqual([
      'operation.status_changed',
      'thing.advanced',
      'thing.done',
      'thing.advanced',
      'thing.advanced',
      'thing.finished',
      'operation.status_changed',
    ]);
    const advanced = await harness.database.read<{ data: unknown }>(
      'system',
      `select data from events where operation_id = $1 and type = 'thing.advanced' order by sequence`,
      [id],
    );
    expect(advanced.map((row) => row.data)).toMatchObject([
      { step: 'first', status: 'succeeded', progress: 33 },
      { step: 'many:2', status: 'skipped', progress: 67 },
      { step: 'last', status: 'succeeded', progress: 99 },
    ]);
  });

  it('is called once for a failure, with the observations of the step', async () => {
    const asked: string[] = [];
    const first: Run = async () => {
      const found = { retryable: false, evidence: { rate: 1 }, result: { verdict: 'bad' } };
      throw new StepFailed(operationFailures.dependency_outage, 'worse', found);
    };
    const { begin } = script(
      [harness],
      { first },
      {
        unwind: [{ name: 'undo', undoes: ['first'], run: oneAfterAnother(fails, leavesAnEffect) }],
        beginUnwind: async (_tx, _operation, failure) => void asked.push(`begins: ${failure.message}`),
        finish: async (_tx, _operation, outcome, failure) => void asked.push(`${outcome}: ${failure?.code}`),
      },
    );
    const ended = await harness.finish(TENANT, await begin());
    expect(asked).toEqual(['begins: worse', 'failed: dependency_outage']);
    expect(ended).toMatchObject({ error_code: 'dependency_outage', retryable: false, result: { verdict: 'bad' } });
    expect(ended['steps'][0]).toMatchObject({ status: 'failed', message: 'worse', evidence: { rate: 1 } });
    await expect(inTenant((tx) => harness.store.retry(tx, ended['id'], ACTOR))).rejects.toMatchObject({
      code: 'operation_not_retryable',
    });
  });

  it('may refuse a retry, which then changes nothing', async () => {
    let isRefused = true;
    const { begin } = script(
      [harness],
      { first: oneAfterAnother(failsForGood, leavesAnEffect) },
      {
        reclaim: async (tx, { input }) => {
          await tx.query('select 1');
          if (isRefused) throw new Error(`${input.world ? 'the world' : 'nothing'} is taken`);
        },
      },
    );
    const id = await begin();
    await harness.finish(TENANT, id);
    const before = await everythingOf(harness, id);
    const retry = () => inTenant((tx) => harness.store.retry(tx, id, ACTOR));
    await expect(retry()).rejects.toThrow('the world is taken');
    expect(await everythingOf(harness, id)).toEqual(before);
    isRefused = false;
    await retry();
    await drive(id);
    expect(await record(id)).toMatchObject({ status: 'succeeded' });
  });
});
