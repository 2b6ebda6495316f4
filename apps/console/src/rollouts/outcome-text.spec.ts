import { describe, expect, it } from '@jest/globals';
import {
  achievedText,
  assumptionsText,
  outcomesOf,
  phaseText,
  resultText,
  unpredictedOutcomes,
  type Outcome,
} from './outcome-text.js';

const OUTCOME: Outcome = {
  phase: 'promotion',
  at: '2026-01-01T12:00:00.000Z',
  metric: 'ttft_ms',
  stat: 'p95',
  predicted: { value: 154, low: 120, high: 198 },
  now: 1110,
  achieved: { value: 149, low: 140, high: 160, n: 1812 },
  within: true,
  log_error: -0.033,
  result: 'as_predicted',
};

describe('the result of an outcome', () => {
  it.each<[unknown, boolean | null, string, string]>([
    ['as_predicted', true, 'as predicted', 'good'],
    ['better', false, 'better, and not as predicted', 'good'],
    ['worse', false, 'worse, and not as predicted', 'bad'],
    ['worse', true, 'worse, because its SLO is newly missed', 'bad'],
    ['no_effect', false, 'no certain effect', 'warn'],
    ['assumptions_moved', false, 'not comparable, because the load or the requests have changed', 'plain'],
    ['rolled_back', null, 'not measured, because it was rolled back or replaced', 'plain'],
    [null, null, 'too little evidence in time', 'plain'],
    ['of_a_later_api', null, 'of a later api', 'plain'],
  ])('%s (inside: %s) is in words', (result, within, text, tone) =>
    expect(resultText({ ...OUTCOME, result: result as Outcome['result'], within })).toEqual({ text, tone }),
  );

  it('names the newly missed SLO of a metric without a prediction', () =>
    expect(resultText({ ...OUTCOME, result: 'worse', predicted: null, within: null }).text).toBe(
      'worse, because its SLO is newly missed',
    ));
});

it('has the achieved value with its interval and samples, and when it was recorded', () => {
  expect(achievedText(OUTCOME)).toBe('149 ms (140 to 160 ms), 1,812 samples');
  const open = { value: 149, low: 140, high: null, n: 1 };
  expect(achievedText({ ...OUTCOME, achieved: open })).toBe('149 ms (at least 140 ms), 1 sample');
  expect(achievedText({ ...OUTCOME, achieved: null })).toBeNull();
  expect(['promotion', 'window', 'later_still'].map((phase) => phaseText({ phase } as Outcome))).toEqual([
    'Soon after the rollout',
    'After the outcome window',
    'later still',
  ]);
});

it('belongs to the prediction of its metric and statistic, or to none', () => {
  const other = { ...OUTCOME, stat: 'p50' };
  const missed = { ...OUTCOME, predicted: null };
  const plan = { outcomes: [OUTCOME, other, missed] };
  expect(outcomesOf(OUTCOME, plan)).toEqual([OUTCOME]);
  expect(unpredictedOutcomes(plan)).toEqual([missed]);
  expect([outcomesOf(OUTCOME, {}), unpredictedOutcomes({})]).toEqual([[], []]);
});

it('says whether the assumptions held, once that is known', () => {
  expect(assumptionsText({ assumptions_hold: true })).toBe('The assumptions of the plan held.');
  expect(assumptionsText({ assumptions_hold: false })).toMatch(/no longer held/);
  expect([assumptionsText({ assumptions_hold: null }), assumptionsText({})]).toEqual([null, null]);
});
