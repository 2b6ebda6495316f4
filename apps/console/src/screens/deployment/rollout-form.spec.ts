import { describe, expect, it } from '@jest/globals';
import { argValue, bodyOf, formOf, mergePatch } from './rollout-form.js';

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

describe('the merge patch', () => {
  it('names what differs, takes away with null, and replaces lists whole', () =>
    expect(mergePatch({ a: 1, b: { c: 1, d: 2 }, e: [1], f: 'gone' }, { a: 1, b: { c: 1, d: 3 }, e: [1, 2] })).toEqual({
      f: null,
      b: { d: 3 },
      e: [1, 2],
    }));
  it('is empty for the same, in whatever order', () =>
    expect(mergePatch({ b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 } })).toEqual({}));
});

describe('the request', () => {
  it('changes nothing that was not touched', () => {
    const { spec_patch, base_revision, expected_active_revision } = bodyOf(formOf(spec, null), declared, active);
    expect(spec_patch).toEqual({});
    expect([base_revision, expected_active_revision]).toEqual(['chat-00001', 'chat-00001']);
  });

  it('patches what was', () => {
    const form = { ...formOf(spec, null), modelUri: '', args: { ttft_ms: '30', tokens: '' } };
    expect(bodyOf(form, declared, active).spec_patch).toEqual({
      model: { uri: null },
      runtime: { args: { ttft_ms: 30, tokens: null } },
    });
  });

  it('is a whole spec where there is nothing to patch', () => {
    const form = { ...formOf(undefined, null), modelId: 'llama', target: 'local', engine: 'sim' };
    expect(bodyOf(form, declared, undefined)).toEqual({
      spec: { model: { id: 'llama' }, runtime: { target: 'local', engine: 'sim', args: {} } },
      strategy: { type: 'immediate' },
    });
  });

  it('has steps and gates only where traffic moves by them', () => {
    const gate = { name: 'ttft_ms', stat: 'p95', check: 'regression', limit: '10', minSamples: '20' };
    const form = { ...formOf(spec, { type: 'canary' }), metrics: [gate], reason: 'faster' };
    expect(bodyOf(form, declared, active)).toMatchObject({
      strategy: {
        type: 'canary',
        steps: [
          { traffic_percent: 10, soak_seconds: 60, requires_approval: false },
          { traffic_percent: 100, soak_seconds: 60, requires_approval: false },
        ],
      },
      analysis: {
        metrics: [{ name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 10, min_samples: 20 }],
      },
      reason: 'faster',
    });
    const immediate = bodyOf({ ...form, strategy: 'immediate' }, declared, active);
    expect(immediate.strategy).toEqual({ type: 'immediate' });
    expect(immediate.analysis).toBeUndefined();
  });

  it('begins with what the deployment does by default', () => {
    const { strategy, steps, metrics } = formOf(
      spec,
      { type: 'canary', steps: [{ traffic_percent: 100, soak_seconds: 5, requires_approval: true }] },
      { metrics: [{ name: 'itl_ms', check: 'regression', max_regression_percent: 5 }] },
    );
    expect(strategy).toBe('canary');
    expect(steps).toEqual([{ trafficPercent: '100', soakSeconds: '5', isApproved: true }]);
    expect(metrics).toEqual([{ name: 'itl_ms', stat: '', check: 'regression', limit: '5', minSamples: '' }]);
  });

  it('says what is wrong instead of sending it', () => {
    const form = formOf(spec, { type: 'canary' });
    const trying = (changed: Partial<typeof form>) => () => bodyOf({ ...form, ...changed }, declared, active);
    expect(trying({ modelId: ' ' })).toThrow('The model needs an id.');
    expect(trying({ args: { ttft_ms: 'soon' } })).toThrow('ttft_ms is not a number.');
    expect(trying({ args: { ttft_ms: '1.5' } })).toThrow('ttft_ms is not a whole number.');
    expect(trying({ steps: [{ trafficPercent: '', soakSeconds: '1', isApproved: false }] })).toThrow(
      'The traffic of step 1 is not a number.',
    );
  });
});

describe('an argument', () => {
  it.each([
    ['string', '40', '40'],
    ['choice', 'fp8', 'fp8'],
    ['number', '1.5', 1.5],
    ['boolean', 'false', false],
    ['json', '{"a":[1]}', { a: [1] }],
  ])('of the type %s', (type, text, value) => expect(argValue(type, 'x', text)).toEqual(value));
  it('is refused where it is no JSON', () => expect(() => argValue('json', 'x', '{')).toThrow('x is not JSON.'));
});
