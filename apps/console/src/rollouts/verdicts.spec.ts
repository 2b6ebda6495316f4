import { describe, expect, it } from '@jest/globals';
import type { OperationStep } from '@slipway/sdk';
import { boundsText, judgementsOf, limitText, resultsOf, samplesText, type GateResult } from './verdicts.js';

const gate = (changed: Partial<GateResult> = {}) =>
  ({
    metric: 'ttft_ms',
    stat: 'p95',
    check: 'threshold',
    verdict: 'pass',
    candidate: { value: 120, samples: 40 },
    baseline: null,
    limit: 500,
    ...changed,
  }) as GateResult;
const step = (name: string, evidence: unknown = null) => ({ name, evidence }) as OperationStep;
const analysis = (verdict: string) => ({ verdict, metrics: [gate({ verdict })], guards: [gate({ check: 'guard' })] });

describe('the verdicts of an operation', () => {
  it('are those of each judged step, the newest first, the metrics before the guards', () => {
    const steps = [step('await_ready', { ready: 1 }), step('soak:1', analysis('pass')), step('soak:2')];
    const found = judgementsOf({ steps, result: { analysis: { 'soak:2': analysis('breached') } } });
    expect(found.map(({ step: name, verdict }) => [name, verdict])).toEqual([
      ['soak:2', 'breached'],
      ['soak:1', 'pass'],
    ]);
    expect(found[0]!.results.map(({ check }) => check)).toEqual(['threshold', 'guard']);
  });

  it.each([[null], ['text'], [{ metrics: 'x' }], [{ metrics: [null, 7, { metric: 1 }] }]])(
    'ignore the unknown shape %j',
    (value) => expect(resultsOf(value)).toEqual([]),
  );
});

it.each([
  [gate(), '≤ 500 ms'],
  [gate({ metric: 'output_tokens_per_s', limit: 40 }), '≥ 40 tokens/s'],
  [gate({ operator: 'gte' }), '≥ 500 ms'],
  [gate({ metric: 'error_rate', limit: 0.05 }), '≤ 5 %'],
  [gate({ check: 'regression', limit: 20 }), '≤ 20 % worse'],
  [gate({ check: 'guard', metric: 'error_rate', limit: 0.05 }), '≤ 5 %'],
  [gate({ check: 'guard', metric: 'error_rate', limit: 0.05, baseline: { value: 0, samples: 9 } }), '≤ 5 points more'],
])('shows the limit of %j as %s', (result, text) => expect(limitText(result)).toBe(text));

it('shows the samples of both revisions, if the baseline was judged', () => {
  expect(samplesText(gate())).toBe('40');
  expect(samplesText(gate({ baseline: { value: null, samples: 0 } }))).toBe('40, baseline 0');
});

it('shows by how much the candidate is worse, if that was measured', () => {
  const bounds = { regression_percent: 12.34, regression_bound_percent: 8, regression_upper_percent: null };
  expect(boundsText(gate({ check: 'regression', ...bounds }))).toBe('12.3 % (8 to –)');
  expect(boundsText(gate())).toBe('–');
});
