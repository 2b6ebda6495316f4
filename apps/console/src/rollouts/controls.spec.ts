import { describe, expect, it } from '@jest/globals';
import { skippedBy, verbsOf, type ControlledOperation } from './controls.js';

const NAMES = [
  ...['validate', 'provision', 'await_ready'],
  ...['shift_traffic:1', 'soak:1', 'analyze:1', 'await_promotion:1'],
  ...['shift_traffic:2', 'soak:2', 'analyze:2', 'promote', 'drain_previous'],
];
const PAUSE = { at: '2026-01-02T03:04:05.000Z', by: { type: 'token', id: 'tok_1' }, reason: null };

/** A canary with two steps whose current step is the named one. */
function canary(current_step: string, changed: Partial<ControlledOperation> = {}): ControlledOperation {
  const at = NAMES.indexOf(current_step);
  const steps = NAMES.map((name, index) => ({
    name,
    index,
    status: index < at ? ('succeeded' as const) : index === at ? ('waiting' as const) : ('pending' as const),
    started_at: null,
    completed_at: null,
    message: '',
    evidence: null,
  }));
  return {
    ...{ kind: 'rollout', status: 'waiting', retryable: false, cancel_requested: false, current_step, steps },
    ...{ waiting_for: null, pause: null },
    result: {
      gate: { metrics: [] },
      strategy_steps: [
        { traffic_percent: 10, soak_seconds: 60, requires_approval: true },
        { traffic_percent: 100, soak_seconds: 180 },
      ],
    },
    ...changed,
  };
}

describe('what a person can do with a rollout', () => {
  it.each<[string, ControlledOperation, string[]]>([
    ['while it soaks', canary('soak:1', { waiting_for: 'soak' }), ['promote', 'promote_fully', 'pause', 'cancel']],
    ['in its last soak', canary('soak:2', { waiting_for: 'soak' }), ['promote', 'pause', 'cancel']],
    ['before it has traffic', canary('await_ready', { status: 'running' }), ['pause', 'cancel']],
    [
      'while a person has paused it',
      canary('soak:1', { pause: PAUSE, waiting_for: 'resume' }),
      [...['resume', 'promote', 'promote_fully', 'cancel']],
    ],
    ['at an approval', canary('await_promotion:1', { waiting_for: 'approval' }), ['resume', 'promote_fully', 'cancel']],
    ['at an unclear gate', canary('analyze:2', { waiting_for: 'decision' }), ['resume', 'cancel']],
    ['after its promotion', canary('drain_previous', { status: 'running' }), ['cancel']],
    ['while it is cancelled', canary('soak:1', { status: 'cancelling' }), []],
    ['after a request to cancel it', canary('soak:1', { cancel_requested: true }), []],
    ['after its end', canary('drain_previous', { status: 'succeeded' }), []],
    ['after a failure', canary('soak:1', { status: 'failed', retryable: true }), ['retry']],
    ['after a final failure', canary('soak:1', { status: 'failed' }), []],
  ])('%s', (_, operation, verbs) => expect(verbsOf(operation)).toEqual(verbs));

  it('is less with another kind of operation', () =>
    expect(verbsOf(canary('soak:1', { kind: 'bake' }))).toEqual(['cancel']));
});

describe('what a promotion skips', () => {
  it('is the rest of the running step, but no approval after it', () =>
    expect(skippedBy(canary('soak:1'), false)).toEqual(['At 10 % of the traffic: the rest of the soak, the gate']));

  it('is the pause after the running step', () => {
    const strategy_steps = [{ traffic_percent: 10, soak_seconds: 60, pause: true }];
    expect(skippedBy(canary('analyze:1', { result: { gate: null, strategy_steps } }), false)).toEqual([
      'At 10 % of the traffic: the pause',
    ]);
  });

  it('is everything that is left, if it is full', () =>
    expect(skippedBy(canary('analyze:1'), true)).toEqual([
      'At 10 % of the traffic: the gate, the approval',
      'At 100 % of the traffic: the soak of 3 min, the gate',
    ]));

  it('is no gate that the rollout does not have', () =>
    expect(skippedBy(canary('soak:2', { result: { gate: null } }), true)).toEqual(['Step 2: the rest of the soak']));

  it('is nothing before a step that can be passed', () =>
    expect(skippedBy(canary('drain_previous'), true)).toEqual([]));
});
