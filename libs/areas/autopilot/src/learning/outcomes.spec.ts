import { describe, expect, it } from '@jest/globals';
import type { DueOutcome } from '@slipway/ports/plans';
import { policyOf, SLO } from '../../test/situations.js';
import { recordsOf, type Service } from '../../test/records.js';
import { outcomesOf, timesOf, type OutcomeContext } from './outcomes.js';

const PROMOTED = new Date('2026-06-01T12:00:00Z');
const after = (seconds: number): Date => new Date(PROMOTED.getTime() + seconds * 1_000);
const POLICY = policyOf({ evidence: { min_duration_seconds: 1_800 }, promotion: { outcome_window_seconds: 7_200 } });

/** Predicts a TTFT p95 of this value, which was twice as high before. */
function plan(value: number, changes: Partial<DueOutcome> = {}, assumes: object | null = null): DueOutcome {
  const metrics = [
    {
      metric: 'ttft_ms',
      stat: 'p95',
      now: 2 * value,
      baseline: { low: 1.9 * value, high: 2.1 * value, n: 500 },
      predicted: { value, low: 0.8 * value, high: 1.25 * value },
    },
  ];
  return {
    planId: 'plan_1',
    revisionId: 'rev_2',
    promotedAt: PROMOTED,
    phase: 'promotion',
    contentDigest: 'd',
    baseRevisionId: 'rev_1',
    kind: 'scale_up',
    content: {
      assumes: assumes as DueOutcome['content']['assumes'],
      predicted_impact: { metrics },
      evidence: [{ kind: 'telemetry', metric: 'error_rate', stat: 'rate', baseline: { value: 0, n: 500 } }],
    },
    ...changes,
  };
}

/** An hour at a load of 4, whose TTFT p95 is about 470 ms. */
function context(now: Date, service: Partial<Service> = {}, changes: Partial<OutcomeContext> = {}): OutcomeContext {
  const { history, availability } = recordsOf({ loadIn: () => 4, minutes: 60, ...service });
  return { now, policy: POLICY, isActive: true, served: { records: history, availability }, ...changes };
}

const record = (of: DueOutcome, where: OutcomeContext) => outcomesOf(of, where);
const resultsOf = (of: DueOutcome, where: OutcomeContext) => record(of, where)?.outcomes.map(({ result }) => result);

describe('the times of the outcomes', () => {
  it('are the length of evidence and the window of the policy, after the promotion', () => {
    expect(timesOf(plan(1), POLICY)).toEqual({ from: after(1_800), until: after(7_200) });
    expect(timesOf(plan(1, { phase: 'window' }), POLICY)).toEqual({ from: after(7_200), until: after(14_400) });
    const short = policyOf({ promotion: { outcome_window_seconds: 60 } });
    expect(timesOf(plan(1), short)).toEqual({ from: after(60), until: after(60) });
  });
});

describe('the outcome of a plan', () => {
  it('waits for the time that evidence must span', () => {
    expect(record(plan(450), context(after(1_799)))).toBeUndefined();
    expect(resultsOf(plan(450), context(after(1_800)))).toEqual(['as_predicted']);
  });

  it('has the achieved value, its error and the next time', () => {
    const found = record(plan(450), context(after(1_800)))!;
    const [one] = found.outcomes;
    expect(one).toMatchObject({ metric: 'ttft_ms', stat: 'p95', now: 900, within: true, hasMoved: true });
    expect(one!.logError).toBeCloseTo(Math.log(one!.achieved!.value / 450), 5);
    expect(found).toMatchObject({ needsRevert: false, assumptionsHold: null });
    expect(found.next).toEqual({ phase: 'window', at: after(7_200) });
    const last = record(plan(450, { phase: 'window' }), context(after(7_200)))!;
    expect(last.next).toBeNull();
  });

  it.each([
    [450, 'as_predicted', false],
    [800, 'better', false],
    [250, 'no_effect', false],
    [100, 'worse', true],
  ])('with a prediction of %d ms is %s', (value, result, needsRevert) => {
    const found = record(plan(value), context(after(1_800)))!;
    expect([found.outcomes.map((one) => one.result), found.needsRevert]).toEqual([[result], needsRevert]);
  });

  it('waits while it may be as predicted or as before, and is not known if that does not change', () => {
    const uneven = { loadIn: (minute: number) => (minute < 4 ? 12 : 4) };
    expect(record(plan(750), context(after(7_199), uneven))).toBeUndefined();
    const [one] = record(plan(750), context(after(7_200), uneven))!.outcomes;
    expect(one).toMatchObject({ within: false, result: null });
    expect(one!.achieved!.low).toBeLessThan(1.25 * 750);
    expect(one!.achieved!.high).toBeGreaterThan(1.9 * 750);
  });

  it('never leads to the revert of a revert', () => {
    expect(record(plan(100, { kind: 'revert' }), context(after(1_800)))!.needsRevert).toBe(false);
  });

  it('is awaited for a bounded time, and then recorded without a value', () => {
    const quiet = { minutes: 3, requestsPerMinute: 5 };
    expect(record(plan(450), context(after(7_199), quiet))).toBeUndefined();
    const found = record(plan(450), context(after(7_200), quiet))!;
    expect(found.outcomes).toMatchObject([{ achieved: null, within: null, logError: null, result: null }]);
    expect(found).toMatchObject({ assumptionsHold: null, needsRevert: false, next: { phase: 'window' } });
    expect(record(plan(450), context(after(7_199), {}, { served: undefined }))).toBeUndefined();
    expect(resultsOf(plan(450), context(after(7_200), {}, { served: undefined }))).toEqual([null]);
  });

  it('is rolled back if another revision has the traffic, or the rollout was never promoted', () => {
    const replaced = record(plan(450), context(after(1), {}, { isActive: false }))!;
    expect(replaced).toMatchObject({ outcomes: [{ result: 'rolled_back', achieved: null }], next: null });
    expect(resultsOf(plan(450, { promotedAt: null }), context(after(1)))).toEqual(['rolled_back']);
  });

  it('counts only at the rate that the plan assumes, and says if that never came', () => {
    const assumes = (rate: number) => ({
      peak_request_rate: rate,
      input_tokens_p95: null,
      output_tokens_p95: null,
      engine_version: null,
    });
    const where = context(after(1_800));
    const rate = where.served!.records.reduce((sum, { arrivals }) => sum + arrivals, 0) / 3_600;
    expect(record(plan(450, {}, assumes(rate)), where)).toMatchObject({
      assumptionsHold: true,
      outcomes: [{ result: 'as_predicted' }],
    });
    expect(record(plan(450, {}, assumes(3 * rate)), where)).toBeUndefined();
    expect(record(plan(450, {}, assumes(3 * rate)), context(after(7_200)))).toMatchObject({
      assumptionsHold: false,
      outcomes: [{ result: 'assumptions_moved', logError: null, within: true }],
    });
  });

  it('does not count if the requests have other lengths than the plan assumes', () => {
    const assumes = { peak_request_rate: null, input_tokens_p95: 900, output_tokens_p95: null, engine_version: null };
    expect(record(plan(100, {}, assumes), context(after(1_800)))).toMatchObject({
      assumptionsHold: false,
      needsRevert: false,
      outcomes: [{ result: 'assumptions_moved', logError: null }],
    });
    const same = { ...assumes, input_tokens_p95: 500 };
    expect(record(plan(100, {}, same), context(after(1_800)))).toMatchObject({ assumptionsHold: true });
  });

  it('is worse if an SLO is newly missed that the plan predicted, or did not predict', () => {
    const slos = [{ ...SLO, threshold: 300 }];
    const policy = policyOf({ slos, promotion: { outcome_window_seconds: 7_200 } });
    const before = plan(450);
    const [metric] = before.content.predicted_impact!['metrics'] as Record<string, unknown>[];
    metric!['now'] = 250;
    expect(resultsOf(before, context(after(1_800), {}, { policy }))).toEqual(['worse']);
    metric!['now'] = 900;
    expect(resultsOf(before, context(after(1_800), {}, { policy }))).toEqual(['as_predicted']);
    const errors = policyOf({ reliability: { max_error_rate: 0.02 }, promotion: { outcome_window_seconds: 7_200 } });
    const failing = context(after(1_800), { failuresIn: () => 0.2 }, { policy: errors });
    expect(record(plan(450), failing)).toMatchObject({
      needsRevert: true,
      outcomes: [
        { metric: 'ttft_ms', result: 'as_predicted' },
        { metric: 'error_rate', now: 0, predicted: null, within: null, logError: null, result: 'worse' },
      ],
    });
  });

  it('is empty for a plan without a readable prediction', () => {
    const free = plan(1);
    free.content.predicted_impact = { metrics: 'much faster' };
    expect(record(free, context(after(1_800)))).toMatchObject({ outcomes: [], assumptionsHold: null });
  });
});
