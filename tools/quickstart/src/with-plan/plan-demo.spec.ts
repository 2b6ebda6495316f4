import { describe, expect, it } from '@jest/globals';
import { OperationFailed, type Operation, type Slipway } from '@slipway/sdk';
import { Narrator } from '../demo/narrator.js';
import { busyTime, demonstratePlan, planDemoTimes, RATES, type PlanDemoOptions } from './plan-demo.js';
import type { Plan } from './plan-text.js';

const PLAN = {
  id: 'plan_1',
  deployment: 'busy',
  summary: 'e2e p50 is 1850 ms. Run 2 replicas. That predicts 590.2 ms.',
  created_at: '2026-01-01T00:00:00.000Z',
  stale: false,
  approval: { state: 'pending', ended: null },
  predicted_impact: {
    metrics: [
      {
        metric: 'e2e_latency_ms',
        stat: 'p50',
        now: 1_850.4,
        predicted: { value: 590.2, low: 459.9, high: 757.6 },
        confidence: 0.9,
        calibrated_on: 0,
      },
    ],
  },
  execution: {
    strategy: {
      type: 'canary',
      steps: [
        { traffic_percent: 50, soak_seconds: 30 },
        { traffic_percent: 100, soak_seconds: 30 },
      ],
    },
  },
  outcomes: [],
} as unknown as Plan;

const OUTCOME = {
  metric: 'e2e_latency_ms',
  stat: 'p50',
  now: 1_850.4,
  predicted: { value: 590.2, low: 459.9, high: 757.6 },
  achieved: { value: 561, low: 520, high: 605, n: 271 },
  within: true,
  result: 'as_predicted',
};

/** A revision that the reader has rolled out without the plan. */
const OWN = { source: { kind: 'rollout', plan_id: null, operation_id: 'op_3' } };

const approved = { approval: { state: 'approved', ended: null } } as unknown as Partial<Plan>;

interface Story {
  isWritten?: boolean;
  isLoadFailing?: boolean;
  /** Changes of the plan, by read; the last one stays. */
  reads?: Partial<Plan>[];
  isExecuted?: boolean;
  rolloutFailure?: Error;
  waitingFor?: string;
  source?: object;
  consoleUrl?: string;
  signal?: AbortSignal;
}

const FAST = { quietMs: 20, minuteMs: 10, planMs: 40, readerMs: 40, rolloutMs: 40, outcomeMs: 40, pollMs: 1 };
const WELL: Partial<Plan>[] = [{}, approved, { ...approved, outcomes: [OUTCOME] } as unknown as Partial<Plan>];

/** @returns what the reader sees, the rates of the load, and the error that ended it */
async function tell(story: Story = {}) {
  const { isWritten = true, isExecuted = true, reads = WELL, source = { plan_id: PLAN.id } } = story;
  const done: unknown[] = [];
  const rollout = { id: 'op_1' };
  let readCount = 0;
  const slipway = {
    deployments: {
      create: async () => undefined,
      rollouts: { create: async () => ({ operation: rollout }) },
      policy: { set: async () => undefined },
      get: async () => ({ active_revision: 'busy-00002' }),
      revisions: {
        get: async () => ({ source }),
        list: async () => ({
          data: [OWN, ...(isExecuted ? [{ source: { plan_id: PLAN.id, operation_id: 'op_2' } }] : [])],
        }),
      },
    },
    operations: {
      wait: async (id: string, { onRecord }: { onRecord(record: object): void }) => {
        if (id === 'op_1') return;
        expect(id).toBe('op_2');
        if (story.waitingFor) onRecord({ waiting_for: story.waitingFor, message: 'Too few requests.' });
        if (story.rolloutFailure) throw story.rolloutFailure;
      },
    },
    autopilot: {
      plans: {
        list: async () => ({ data: isWritten ? [PLAN] : [] }),
        get: async () => ({ ...PLAN, ...reads[Math.min(readCount++, reads.length - 1)] }),
      },
      diagnosis: { get: async () => ({ decision: { because: 'met', message: 'All SLOs are met.' } }) },
    },
  } as unknown as Slipway;
  let output = '';
  const load: PlanDemoOptions['load'] = {
    setRate: (rate) => done.push(rate),
    stop: async () => void done.push('stopped'),
    assertAnswered: () => {
      if (story.isLoadFailing) throw new Error('the last 20 requests through the gateway failed: refused');
    },
  };
  const failure = await demonstratePlan({
    slipway,
    narrator: new Narrator({ write: (text) => (output += text) }),
    load,
    name: 'busy',
    labels: {},
    consoleUrl: story.consoleUrl,
    times: FAST,
    signal: story.signal ?? new AbortController().signal,
  }).then(
    () => undefined,
    (error: Error) => error.message,
  );
  return { output, done, failure };
}

describe('a quickstart with a plan', () => {
  it('sends few requests and then many, and shows plan, commands and outcome', async () => {
    const { output, done, failure } = await tell({ consoleUrl: 'http://127.0.0.1:1' });
    expect(failure).toBeUndefined();
    expect(done).toEqual([RATES.quiet, RATES.busy, 'stopped']);
    expect(output).toContain(
      [
        '  e2e p50 is 1850 ms.',
        '  Run 2 replicas.',
        '  That predicts 590.2 ms.',
        '  now:        e2e_latency_ms p50 1850 ms',
        '  predicted:  e2e_latency_ms p50 590 ms (460 to 758), a 90 % interval, not yet calibrated',
        '  rollout:    canary: 50 % of the requests for 30 s, then 100 % of the requests for 30 s',
        '  console:    http://127.0.0.1:1/plans/plan_1',
        '',
        '  It changes nothing by itself. In another shell, approve it and then execute it:',
        '    npx slipway plans approve plan_1 --yes',
        '    npx slipway rollouts create busy --plan plan_1',
        '  Waiting for the approval …',
        '  approved',
      ].join('\n'),
    );
    expect(output).toContain(
      [
        '  busy-00002 serves all requests',
        '',
        '12. Compare what the plan achieved with its prediction',
        '  before:     e2e_latency_ms p50 1850 ms',
        '  predicted:  e2e_latency_ms p50 590 ms (460 to 758)',
        '  achieved:   e2e_latency_ms p50 561 ms (520 to 605), from 271 requests',
        '  The achieved value is inside the predicted interval.',
        '',
      ].join('\n'),
    );
  });

  it('names no page of a console that is off', async () => {
    expect((await tell()).output).not.toContain('console:');
  });

  it('follows a plan that is stale only because it was executed', async () => {
    const { failure } = await tell({ reads: [{ ...approved, stale: true }, WELL[2] as Partial<Plan>] });
    expect(failure).toBeUndefined();
  });

  it.each([
    ['no_effect', 'no effect'],
    [null, 'unclear, because the values vary much'],
  ])('says it if the achieved value is outside the interval: %s', async (result, text) => {
    const missed = { ...OUTCOME, within: false, result };
    const { output, failure } = await tell({
      reads: [approved, { ...approved, outcomes: [missed] } as unknown as Partial<Plan>],
    });
    expect(failure).toBeUndefined();
    expect(output).toContain(`  The achieved value is outside the predicted interval.\n  Result: ${text}\n`);
  });

  it('says it if too few requests came for a value', async () => {
    const none = { ...OUTCOME, achieved: null, within: null, result: null };
    const { output } = await tell({ reads: [approved, { outcomes: [none] } as unknown as Partial<Plan>] });
    expect(output).toMatch(/ {2}achieved: {3}e2e_latency_ms p50 unknown, because too few requests came\n$/);
  });

  it('says what to do if the rollout waits for a person', async () => {
    const { output } = await tell({ waitingFor: 'decision' });
    expect(output).toContain(
      '  It waits for you: Too few requests.\n  Continue with `npx slipway rollouts promote busy`, or stop it with `npx slipway rollouts abort busy`.\n',
    );
    expect((await tell({ waitingFor: 'soak' })).output).not.toContain('It waits for you');
  });

  const ended = (state: string, comment: string | null = null): Partial<Plan> =>
    ({ approval: { state, ended: { comment } } }) as unknown as Partial<Plan>;
  const failed = { id: 'op_2', kind: 'rollout', status: 'failed', error_code: 'analysis_failed', message: 'too slow' };
  it.each<[string, Story, string]>([
    ['no plan is written', { isWritten: false }, 'wrote no plan within 0 s. Its last decision: All SLOs are met.'],
    [
      'nobody approves it',
      { reads: [{}] },
      'the plan was not approved within 0 s. Run this command again, and type the commands that it prints',
    ],
    [
      'nobody executes it',
      { reads: [approved], isExecuted: false },
      'the plan was not executed within 0 s. Run this command again, and type the commands that it prints',
    ],
    ['it is rejected', { reads: [{}, ended('rejected', 'not today')] }, 'the plan was rejected (not today), so it'],
    ['it has expired', { reads: [ended('expired')] }, 'the plan has expired, so it is not executed. Run this'],
    ['it is superseded', { reads: [ended('superseded')] }, 'the plan was superseded, so it is not executed.'],
    ['it is stale', { reads: [{ stale: true }], isExecuted: false }, 'another revision became active, so the plan is'],
    [
      'its rollout fails',
      { rolloutFailure: new OperationFailed(failed as unknown as Operation) },
      'the plan was not carried out, and the earlier revision serves: rollout failed (analysis_failed): too slow\n  Run this command again, or read it with `npx slipway operations get op_2` while',
    ],
    [
      'its rollout does not end',
      { rolloutFailure: new Error('it did not end within 1 ms') },
      'the rollout of the plan did not end: it did not end within 1 ms\n',
    ],
    ['another rollout took its place', { source: { kind: 'api' } }, 'busy-00002 is active, which does not come from'],
    ['there is no outcome', { reads: [approved] }, 'no outcome was recorded within 0 s. Read it later with'],
    ['requests fail', { isLoadFailing: true }, 'the last 20 requests through the gateway failed: refused'],
  ])('fails with what to do if %s, and its requests end', async (_, story, message) => {
    const { done, failure } = await tell(story);
    expect(failure).toContain(message);
    expect(done.at(-1)).toBe('stopped');
  });

  it('ends at once if the reader stops it', async () => {
    const { done, failure } = await tell({ signal: AbortSignal.abort(), reads: [{}] });
    expect(failure).toBe('The operation was aborted');
    expect(done).toEqual([RATES.quiet, 'stopped']);
  });

  it.each([
    [600, 600],
    [615, 615],
    [616, 660],
    [659, 660],
  ])('begins the load in the first quarter of a minute: after %s s at %s s', (earliest, at) => {
    expect(busyTime(earliest, 60)).toBe(at);
  });

  it('waits five minutes for a reader who may not be there, and an hour for one who started it to read', () => {
    expect([true, false].map((isOnce) => planDemoTimes(isOnce).readerMs / 60_000)).toEqual([5, 60]);
  });
});
