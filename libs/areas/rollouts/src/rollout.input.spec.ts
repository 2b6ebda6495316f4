import { describe, expect, it } from '@jest/globals';
import { StrategyDto } from '@slipway/ports/deployment-records';
import { chooseGate, chooseStrategy, percentAt, rolloutSteps } from './rollout.input.js';
import type { InstancesPort } from '@slipway/ports/instances';
import { assertAdmitted, assertRolloutAllowed, completeSpec, patchedSpec, RolloutCheck } from './acceptance.js';

describe('the steps of a rollout', () => {
  const build = ['validate', 'provision', 'await_ready'];
  const end = ['promote'];
  const step = (traffic_percent: number, requires_approval = false) => ({
    traffic_percent,
    soak_seconds: 1,
    requires_approval,
    pause: false,
  });

  it('stop the previous revision of a recreate before they start the candidate, and only start a first one', () => {
    const strategy = chooseStrategy({ type: 'recreate' }, null);
    expect(strategy).toEqual({ type: 'recreate', steps: [{ ...step(100), soak_seconds: 180 }], hold_seconds: 60 });
    const steps = rolloutSteps(strategy, false);
    expect(steps.indexOf('hold_requests')).toBeLessThan(steps.indexOf('stop_previous'));
    expect(steps.indexOf('stop_previous')).toBeLessThan(steps.indexOf('provision'));
    expect(rolloutSteps(strategy, true)).toEqual([...build, 'shift_traffic:1', ...end]);
  });

  it('are refused with shares or approvals in a recreate, approvals in auto, and hold_seconds in a canary', () => {
    const check = (strategy: StrategyDto) => StrategyDto.check(strategy).map(({ field, code }) => [field, code]);
    expect(check({ type: 'recreate', steps: [step(50), step(100)] })).toEqual([['steps', 'not_applicable']]);
    expect(check({ type: 'recreate', steps: [step(100, true)] })).toEqual([['steps', 'not_applicable']]);
    expect(check({ type: 'auto', steps: [step(50, true), step(100)] })).toEqual([['steps', 'not_applicable']]);
    expect(check({ type: 'canary', hold_seconds: 30 })).toEqual([['hold_seconds', 'not_applicable']]);
    expect(check({ type: 'recreate', steps: [step(100)], hold_seconds: 290 })).toEqual([]);
    expect(check({ type: 'auto', steps: [step(50), step(100)] })).toEqual([]);
  });

  it('only build a candidate by default', () => {
    expect(rolloutSteps(chooseStrategy(undefined, null), false)).toEqual(build);
  });

  it("follow the deployment's strategy if the request has none", () => {
    expect(rolloutSteps(chooseStrategy(undefined, { type: 'immediate' }), false)).toEqual([
      ...build,
      'shift_traffic:1',
      ...end,
    ]);
  });

  it('go through a canary step by step, with an approval only if one is required', () => {
    const strategy = chooseStrategy({ type: 'canary', steps: [step(10), step(100, true)] }, null);
    expect(rolloutSteps(strategy, false)).toEqual([
      ...build,
      'shift_traffic:1',
      'soak:1',
      'analyze:1',
      'shift_traffic:2',
      'soak:2',
      'analyze:2',
      'await_promotion:2',
      ...end,
    ]);
    expect([percentAt(strategy, 1), percentAt(strategy, 2)]).toEqual([10, 100]);
  });

  it('skip canary steps and analysis for a first revision', () => {
    expect(rolloutSteps(chooseStrategy({ type: 'canary' }, null), true)).toEqual([...build, 'shift_traffic:1', ...end]);
  });

  it('wait for an approval before the switch of blue_green', () => {
    const strategy = chooseStrategy({ type: 'blue_green', steps: [step(100, true)] }, null);
    expect(rolloutSteps(strategy, false)).toEqual([
      ...build,
      'await_promotion:1',
      'shift_traffic:1',
      'soak:1',
      'analyze:1',
      ...end,
    ]);
  });

  it('must have percentages that rise to 100', () => {
    const check = (percents: number[]) =>
      StrategyDto.check({ type: 'canary', steps: percents.map((percent) => step(percent)) });
    expect(check([5, 100])).toEqual([]);
    expect(check([50, 50, 100])).toMatchObject([{ field: 'steps', code: 'order' }]);
    expect(check([5, 50])).toMatchObject([{ field: 'steps', code: 'order' }]);
    expect(StrategyDto.check({ type: 'immediate', steps: [step(100)] })).toMatchObject([{ code: 'not_applicable' }]);
  });
});

describe('the gate of a rollout', () => {
  const gate = (threshold: number) => ({
    metrics: [
      {
        name: 'error_rate' as const,
        check: 'threshold' as const,
        threshold,
        min_samples: 50,
        failure_limit: 0,
        dry_run: false,
      },
    ],
    on_failure: 'rollback' as const,
    on_inconclusive: 'pause' as const,
  });
  const soaking = ['provision', 'shift_traffic:1', 'soak:1', 'analyze:1', 'promote'];

  const guardsOf = (chosen: ReturnType<typeof chooseGate>) => chosen?.guards.map(({ name }) => name);
  const ADDED = ['client_error_rate', 'overloaded_rate', 'abandoned_rate'];

  it('is that of the request, else that of the deployment, else guards', () => {
    expect(chooseGate(soaking, gate(0.1), gate(0.2))).toMatchObject({ source: 'rollout', ...gate(0.1) });
    expect(chooseGate(soaking, undefined, gate(0.2))).toMatchObject({ source: 'deployment', ...gate(0.2) });
    const byDefault = chooseGate(soaking, undefined, null);
    expect(byDefault).toMatchObject({ source: 'default', metrics: [], on_failure: 'rollback' });
    expect(byDefault).toMatchObject({ on_inconclusive: 'pause' });
    expect(guardsOf(byDefault)).toEqual(['error_rate', ...ADDED]);
  });

  it('has a guard for each outcome that no metric names, and leaves errors to the gate', () => {
    expect(guardsOf(chooseGate(soaking, gate(0.1), null))).toEqual(ADDED);
    expect(guardsOf(chooseGate(soaking, undefined, gate(0.1)))).toEqual(ADDED);
    const { metrics, ...actions } = gate(0.1);
    const named = { ...actions, metrics: [{ ...metrics[0]!, name: 'overloaded_rate' as const }] };
    expect(guardsOf(chooseGate(soaking, named, null))).toEqual(['client_error_rate', 'abandoned_rate']);
  });

  it('is null if the analysis is none, whatever the deployment has', () => {
    const none = { ...gate(0.1), mode: 'none' as const };
    expect(chooseGate(soaking, none, gate(0.2))).toBeNull();
    expect(chooseGate(soaking, undefined, none)).toBeNull();
    expect(chooseGate(soaking, gate(0.1), none)).toMatchObject({ source: 'rollout' });
  });

  it('is null if no step is analyzed', () => {
    for (const strategy of ['candidate', 'immediate'] as const)
      expect(
        chooseGate(rolloutSteps(chooseStrategy({ type: strategy }, null), false), undefined, gate(0.2)),
      ).toBeNull();
    expect(chooseGate(rolloutSteps(chooseStrategy({ type: 'canary' }, null), true), gate(0.1), gate(0.2))).toBeNull();
  });
});

describe('the preview of a rollout', () => {
  const { preview } = new RolloutCheck({} as InstancesPort);
  const target = { model: { id: 'm' }, runtime: { target: 'local', args: {}, env: {} }, scaling: { min_replicas: 1 } };
  const gate = { metrics: [], on_failure: 'pause' as const, on_inconclusive: 'pause' as const };
  const defaults = { defaultStrategy: null, defaultAnalysis: null };

  it('has the defaults of the deployment, and those of Slipway after them', () => {
    expect(preview({}, target, defaults)).toEqual({
      strategy: { type: 'candidate', steps: [] },
      analysis: null,
      target: 'local',
      is_gated: false,
    });
    const ofDeployment = { defaultStrategy: { type: 'canary' }, defaultAnalysis: { ...gate } };
    const chosen = preview({}, target, ofDeployment);
    expect(chosen.strategy.steps?.map((step) => step.traffic_percent)).toEqual([5, 25, 50, 100]);
    expect([chosen.analysis, chosen.is_gated]).toMatchObject([{ source: 'deployment', on_failure: 'pause' }, true]);
    expect(preview({ analysis: { ...gate } }, target, ofDeployment).analysis?.source).toBe('rollout');
  });

  it.each<[string, Parameters<typeof preview>[0], string | undefined]>([
    ['immediate', { strategy: { type: 'immediate' } }, undefined],
    [
      'immediate with a gate, which has no soak to judge',
      { strategy: { type: 'immediate' }, analysis: gate },
      undefined,
    ],
    ['blue_green', { strategy: { type: 'blue_green' } }, 'default'],
    ['auto', { strategy: { type: 'auto' } }, 'default'],
    ['recreate', { strategy: { type: 'recreate' } }, 'default'],
    ['a canary that nothing judges', { strategy: { type: 'canary' }, analysis: { ...gate, mode: 'none' } }, undefined],
  ])('shows whether a gate judges it: %s', (_what, requested, source) => {
    const shown = preview(requested, target, defaults);
    expect([shown.strategy.type, shown.analysis?.source, shown.is_gated]).toEqual([
      requested.strategy!.type,
      source,
      source !== undefined,
    ]);
  });
});

describe('a spec', () => {
  const spec = completeSpec({ model: { id: 'm' }, runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 20 } } });

  it('contains all its defaults', () => {
    expect(spec).toEqual({
      model: { id: 'm' },
      runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 20 }, env: {} },
      scaling: { min_replicas: 1 },
    });
  });

  it('is merged by RFC 7386: null removes, lists and scalars replace', () => {
    expect(patchedSpec(spec, { runtime: { args: { ttft_ms: null, tokens: 5 } } }).runtime.args).toEqual({ tokens: 5 });
  });

  it('is refused with the name of the field if the patch makes it invalid', () => {
    expect(() => patchedSpec(spec, { scaling: { min_replicas: -1 } })).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        details: [expect.objectContaining({ field: 'spec_patch.scaling.min_replicas' })],
      }),
    );
  });
});

describe('the rules for starting a rollout', () => {
  it('refuse a rollout without a plan if protection requires one, except for a first revision', () => {
    const deployment = (rollouts: 'any' | 'approved_plan', activeRevisionId: string | null = 'rev_1') => ({
      name: 'chat',
      activeRevisionId,
      protection: { deletion: true, rollouts },
    });
    for (const planId of [undefined, null])
      expect(() => assertAdmitted(deployment('approved_plan'), planId)).toThrow(
        expect.objectContaining({
          code: 'plan_required',
          status: 409,
          details: [expect.objectContaining({ field: 'plan_id' })],
        }),
      );
    expect(() => assertAdmitted(deployment('approved_plan'), 'plan_1')).not.toThrow();
    expect(() => assertAdmitted(deployment('approved_plan', null), null)).not.toThrow();
    expect(() => assertAdmitted(deployment('any'), null)).not.toThrow();
  });

  it('refuse a rollout during a live operation, and name that operation', () => {
    const deployment = { name: 'chat', state: 'progressing' as const, currentOperationId: 'op_1' };
    expect(() => assertRolloutAllowed(deployment)).toThrow(
      expect.objectContaining({ code: 'operation_in_progress', extra: { operation_id: 'op_1' } }),
    );
    expect(() => assertRolloutAllowed({ ...deployment, currentOperationId: null })).not.toThrow();
  });
});
