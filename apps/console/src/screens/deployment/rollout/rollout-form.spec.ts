import { describe, expect, it } from '@jest/globals';
import { argTextsOf, argValue, beginningOf, bodyOf, hasSteps, stepsOf, withoutStrategy } from './rollout-form.js';

const spec = {
  model: { id: 'llama', uri: 'file:///models/llama' },
  runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 40, tokens: 8 }, env: {} },
  scaling: { min_replicas: 1 },
};
const active = { name: 'chat-00001', spec };
const declared = [
  { name: 'ttft_ms', type: 'integer' },
  { name: 'tokens', type: 'integer' },
];
const began = beginningOf(active, null, null);
const args = argTextsOf(spec);

describe('the request', () => {
  it('changes no untouched field', () =>
    expect(bodyOf(began, began, args, declared, active)).toEqual({
      spec_patch: {},
      base_revision: 'chat-00001',
      expected_active_revision: 'chat-00001',
      strategy: { type: 'canary', steps: stepsOf('canary') },
    }));

  it('patches the changed fields, and sends everything else unchanged', () => {
    const given = {
      ...began,
      spec: { ...spec, model: { id: 'llama' }, resources: { count: 2 } },
      progress_deadline_seconds: 90,
      change_ref: 'git:1',
    };
    const sent = bodyOf(given, began, { ttft_ms: '30', tokens: '' }, declared, active);
    expect(sent).toMatchObject({ progress_deadline_seconds: 90, change_ref: 'git:1' });
    expect(sent.spec_patch).toEqual({
      model: { uri: null },
      runtime: { args: { ttft_ms: 30, tokens: null } },
      resources: { count: 2 },
    });
  });

  it('keeps the fields that the form cannot hold', () => {
    const { scaling: _, ...held } = spec;
    const lossy = { ...began, spec: held };
    const given = { ...lossy, spec: { ...lossy.spec, model: { id: 'other' } } };
    expect(bodyOf(given, lossy, args, declared, active).spec_patch).toEqual({ model: { id: 'other', uri: null } });
  });

  it('is a complete spec if there is nothing to patch', () => {
    const given = { spec: { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim' } } };
    expect(bodyOf(given, {}, {}, declared, undefined)).toEqual({
      spec: { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim', args: {} } },
    });
  });

  it('keeps the type of an untouched argument, whatever the engine declares today', () => {
    const sent = bodyOf(began, began, { ...args, ttft_ms: '41' }, [{ name: 'tokens', type: 'string' }], active);
    expect(sent.spec_patch).toEqual({ runtime: { args: { ttft_ms: '41' } } });
  });

  it('reports an invalid argument instead of sending it', () => {
    const trying = (text: string) => () => bodyOf(began, began, { ttft_ms: text }, declared, active);
    expect(trying('soon')).toThrow('ttft_ms is not a number.');
    expect(trying('1.5')).toThrow('ttft_ms is not a whole number.');
  });
});

describe('the initial request', () => {
  it("uses the deployment's defaults", () => {
    const strategy = { type: 'canary' as const, steps: [{ traffic_percent: 100, soak_seconds: 5 }] };
    const analysis = { metrics: [{ name: 'itl_ms' as const, check: 'regression' as const }] };
    expect(beginningOf(active, strategy, analysis)).toMatchObject({ strategy, analysis });
  });

  it('has no gate if no traffic moves in steps', () => {
    const analysis = { metrics: [{ name: 'itl_ms' as const, check: 'regression' as const }] };
    expect(beginningOf(undefined, null, analysis)).toEqual({ strategy: { type: 'immediate', steps: [] } });
    expect(['canary', 'blue_green', 'recreate', 'auto', 'candidate', 'immediate', ''].map(hasSteps)).toEqual([
      ...[true, true, true, true],
      ...[false, false, false],
    ]);
  });
});

describe('a request without a strategy', () => {
  it("follows the deployment's", () =>
    expect(withoutStrategy({ spec: {} }, 'blue_green')).toMatch(/default strategy of the deployment, blue green/));
  it('moves no traffic if the deployment has none', () =>
    expect(withoutStrategy({ spec: {} }, undefined)).toMatch(/gets no traffic/));
  it.each([[{ strategy: { type: 'candidate' } }], [{ plan_id: 'plan_1' }]])('is not %j', (body) =>
    expect(withoutStrategy(body, undefined)).toBeUndefined(),
  );
});

describe('an argument', () => {
  it.each([
    ['string', '40', '40'],
    ['choice', 'fp8', 'fp8'],
    ['number', '1.5', 1.5],
    ['boolean', 'false', false],
    ['json', '{"a":[1]}', '{"a":[1]}'],
  ])('of the type %s', (type, text, value) => expect(argValue(type, 'x', text)).toEqual(value));
  it('is refused if it is no JSON', () => expect(() => argValue('json', 'x', '{')).toThrow('x is not valid JSON.'));
});
