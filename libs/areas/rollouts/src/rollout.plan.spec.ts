import { describe, expect, it } from '@jest/globals';
import { completeSpec, mergePatch, patchedSpec } from './candidate-spec.js';
import { StrategyDto } from '@slipway/ports/deployment-records';
import { rolloutAllowed } from './rollout.input.js';
import { chooseStrategy, percentAt, rolloutSteps } from './rollout.plan.js';

describe('the steps of a rollout', () => {
  const build = ['validate', 'provision', 'await_ready'];
  const end = ['promote', 'drain_previous'];
  const step = (traffic_percent: number, requires_approval = false) => ({
    traffic_percent,
    soak_seconds: 1,
    requires_approval,
  });

  it('builds a candidate and moves nothing by default', () => {
    expect(rolloutSteps(chooseStrategy(undefined, null), false)).toEqual(build);
  });

  it("takes the deployment's strategy where the request has none", () => {
    expect(rolloutSteps(chooseStrategy(undefined, { type: 'immediate' }), false)).toEqual([
      ...build,
      'shift_traffic:1',
      ...end,
    ]);
  });

  it('goes through a canary step by step, with an approval only where asked', () => {
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

  it('skips canary steps and analysis for a first revision', () => {
    expect(rolloutSteps(chooseStrategy({ type: 'canary' }, null), true)).toEqual([...build, 'shift_traffic:1', ...end]);
  });

  it('asks before the switch of blue_green', () => {
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

  it('refuses steps that do not rise to 100', () => {
    const check = (percents: number[]) =>
      StrategyDto.check({ type: 'canary', steps: percents.map((percent) => step(percent)) });
    expect(check([5, 100])).toEqual([]);
    expect(check([50, 50, 100])).toMatchObject([{ field: 'steps', code: 'order' }]);
    expect(check([5, 50])).toMatchObject([{ field: 'steps', code: 'order' }]);
    expect(StrategyDto.check({ type: 'immediate', steps: [step(100)] })).toMatchObject([{ code: 'not_applicable' }]);
  });
});

describe('a spec', () => {
  const spec = completeSpec({ model: { id: 'm' }, runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 20 } } });

  it('has its defaults written out', () => {
    expect(spec).toEqual({
      model: { id: 'm' },
      runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 20 }, env: {} },
      scaling: { min_replicas: 1 },
    });
  });

  it('is merged by RFC 7386: null removes, lists and scalars replace', () => {
    expect(mergePatch({ a: { b: 1, c: 2 }, d: [1] }, { a: { b: null, e: 3 }, d: [2] })).toEqual({
      a: { c: 2, e: 3 },
      d: [2],
    });
    expect(patchedSpec(spec, { runtime: { args: { ttft_ms: null, tokens: 5 } } }).runtime.args).toEqual({ tokens: 5 });
  });

  it('is refused where the patch breaks it, naming the field', () => {
    expect(() => patchedSpec(spec, { scaling: { min_replicas: 0 } })).toThrow(
      expect.objectContaining({
        code: 'validation_failed',
        details: [expect.objectContaining({ field: 'spec_patch.scaling.min_replicas' })],
      }),
    );
  });
});

describe('whether a rollout may begin', () => {
  it('refuses beside a live operation, and names it', () => {
    const deployment = { name: 'chat', state: 'progressing' as const, currentOperationId: 'op_1' };
    expect(() => rolloutAllowed(deployment)).toThrow(
      expect.objectContaining({ code: 'operation_in_progress', extra: { operation_id: 'op_1' } }),
    );
    expect(() => rolloutAllowed({ ...deployment, currentOperationId: null })).not.toThrow();
  });
});
