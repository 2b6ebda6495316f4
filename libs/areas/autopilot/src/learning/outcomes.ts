import { metricOf, type Metric } from '@slipway/contracts';
import { mergeHistograms, quantile, type ServiceRecord } from '@slipway/dataplane';
import {
  achievedIn,
  differs,
  hasMoved,
  judgeOutcome,
  recordsAtRate,
  sideOf,
  type Goal,
  type MeasuredValue,
  type ServedRecords,
} from '@slipway/diagnosis';
import type { AchievedValue, DueOutcome, OutcomeRecord, RecordedOutcome } from '@slipway/ports/plans';
import type { PolicyContent } from '@slipway/ports/policies';
import { availabilityIn, goalsOf } from '../rounds/goals.js';
import type { ReviewRecords } from '../rounds/situation.js';
import { exact } from '../rounds/texts.js';
import { predictionsIn, type StatedPrediction } from './predictions.js';

/** Records of the revision of a plan since its promotion. */
export interface ServedSince {
  records: ServiceRecord[];
  availability: ReviewRecords['availability'];
}

export interface OutcomeContext {
  now: Date;
  policy: PolicyContent;
  /** Whether the revision of the plan has the traffic. */
  isActive: boolean;
  /** Undefined if no gateway reports. */
  served: ServedSince | undefined;
}

/** When an outcome may be recorded, and when it is recorded even if samples are missing or say too little. */
export function timesOf(
  { phase, promotedAt }: Pick<DueOutcome, 'phase' | 'promotedAt'>,
  { evidence, promotion }: Pick<PolicyContent, 'evidence' | 'promotion'>,
): { from: Date; until: Date } {
  const start = promotedAt?.getTime() ?? 0;
  const window = promotion.outcome_window_seconds * 1_000;
  const first = Math.min(evidence.min_duration_seconds * 1_000, window);
  return phase === 'promotion'
    ? { from: new Date(start + first), until: new Date(start + window) }
    : { from: new Date(start + window), until: new Date(start + 2 * window) };
}

/**
 * Returns what to record about a plan; undefined while samples are missing. Pure: the same records always give the same
 * outcome.
 */
export function outcomesOf(plan: DueOutcome, context: OutcomeContext): OutcomeRecord | undefined {
  const predictions = predictionsIn(plan.content.predicted_impact);
  const { now, policy, isActive, served } = context;
  if (!isActive || plan.promotedAt === null)
    return {
      outcomes: predictions.map((one) => unmeasured(one, 'rolled_back')),
      assumptionsHold: null,
      next: null,
      needsRevert: false,
    };
  const times = timesOf(plan, policy);
  if (now < times.from) return undefined;
  const isLast = now >= times.until;
  const found = served && measuredOutcomes(plan, predictions, policy, served, isLast);
  if (!found && !isLast) return undefined;
  const outcomes = found?.outcomes ?? predictions.map((one) => unmeasured(one, null));
  return {
    outcomes,
    assumptionsHold: found?.assumptionsHold ?? null,
    next: plan.phase === 'promotion' ? { phase: 'window', at: later(now, plan, policy) } : null,
    // A revert that does not help must not lead back to what was worse.
    needsRevert: plan.kind !== 'revert' && outcomes.some(({ result }) => result === 'worse'),
  };
}

/** The second outcome needs records of its own. */
function later(now: Date, plan: DueOutcome, policy: PolicyContent): Date {
  const { from } = timesOf({ ...plan, phase: 'window' }, policy);
  const least = now.getTime() + policy.evidence.min_duration_seconds * 1_000;
  return new Date(
    Math.min(Math.max(from.getTime(), least), from.getTime() + policy.promotion.outcome_window_seconds * 1_000),
  );
}

function measuredOutcomes(
  plan: DueOutcome,
  predictions: readonly StatedPrediction[],
  policy: PolicyContent,
  { records, availability }: ServedSince,
  isLast: boolean,
): Pick<OutcomeRecord, 'outcomes' | 'assumptionsHold'> | undefined {
  const { assumes } = plan.content;
  const served = recordsAtRate(records, assumes?.peak_request_rate ?? null);
  const haveTokensMoved =
    haveMoved(served.atLoad, 'inputTokens', assumes?.input_tokens_p95) ||
    haveMoved(served.atLoad, 'outputTokens', assumes?.output_tokens_p95);
  const before = baselinesOf(plan, predictions);
  let hasRateMoved = false;
  const outcomes: RecordedOutcome[] = [];
  for (const prediction of predictions) {
    const measured = measure(prediction, policy, served, availability, isLast);
    if (!measured && !isLast) return undefined;
    if (!measured) {
      outcomes.push(unmeasured(prediction, null));
      continue;
    }
    hasRateMoved ||= !measured.isAtLoad;
    const hasHeld = measured.isAtLoad && !haveTokensMoved;
    const isMissed = isNewlyMissed(prediction, before, policy, measured.value);
    const outcome = judged(prediction, measured.value, hasHeld, isMissed);
    if (outcome.result === null && !isLast) return undefined;
    outcomes.push(outcome);
  }
  const isHeld = !haveTokensMoved && !hasRateMoved;
  if (isHeld) outcomes.push(...newlyMissed(predictions, before, policy, served));
  const isMeasured = outcomes.some(({ achieved }) => achieved !== null);
  return { outcomes, assumptionsHold: assumes && isMeasured ? isHeld : null };
}

function measure(
  { metric, stat }: StatedPrediction,
  policy: PolicyContent,
  { atLoad, all }: ServedRecords,
  availability: ServedSince['availability'],
  isLast: boolean,
): { value: MeasuredValue; isAtLoad: boolean } | undefined {
  if (metric === 'availability_percent') {
    const value = availabilityIn(availability, policy.evidence.confidence);
    const isEnough = availability.minutes * 60 >= policy.evidence.min_duration_seconds || isLast;
    return value && isEnough ? { value, isAtLoad: true } : undefined;
  }
  const evidence = { minSamples: policy.evidence.min_samples, confidence: policy.evidence.confidence };
  const value = achievedIn(atLoad, { metric, stat }, evidence);
  if (value) return { value, isAtLoad: true };
  const other = isLast ? achievedIn(all, { metric, stat }, evidence) : null;
  return other ? { value: other, isAtLoad: false } : undefined;
}

function judged(
  { metric, stat, now, predicted, before }: StatedPrediction,
  value: MeasuredValue,
  hasHeld: boolean,
  isMissed: boolean,
): RecordedOutcome {
  const isHigherBetter = metric === 'availability_percent' || metricOf(metric).better === 'higher';
  const { within, logError, result } = judgeOutcome({ isHigherBetter, predicted, now, before }, value, isMissed);
  return {
    metric,
    stat,
    now,
    predicted,
    achieved: achievedValue(value),
    within,
    // An error under other conditions says nothing about the next prediction.
    logError: hasHeld ? logError : null,
    result: hasHeld ? result : 'assumptions_moved',
    hasMoved: hasMoved(now, predicted.value, value.value),
  };
}

function unmeasured({ metric, stat, now, predicted }: StatedPrediction, result: 'rolled_back' | null): RecordedOutcome {
  return { metric, stat, now, predicted, achieved: null, within: null, logError: null, result, hasMoved: false };
}

/** Values before the plan: its evidence has those of all SLOs, also without a prediction. */
function baselinesOf({ content }: DueOutcome, predictions: readonly StatedPrediction[]): Map<string, number> {
  const all = new Map<string, number>();
  for (const { metric, stat, baseline } of content.evidence)
    if (typeof baseline?.value === 'number') all.set(`${metric} ${stat}`, baseline.value);
  for (const { metric, stat, now } of predictions) if (now !== null) all.set(`${metric} ${stat}`, now);
  return all;
}

/** Whether an SLO was met before the plan, and is certainly missed now. */
function isNewlyMissed(
  { metric, stat }: { metric: string; stat: string },
  before: ReadonlyMap<string, number>,
  policy: PolicyContent,
  value: MeasuredValue,
): boolean {
  const goal = goalsOf(policy).find((one) => one.metric === metric && one.stat === stat);
  return goal !== undefined && wasMet(goal, before) && sideOf(goal, value) === 'missed';
}

function wasMet(goal: Goal, before: ReadonlyMap<string, number>): boolean {
  const value = before.get(`${goal.metric} ${goal.stat}`);
  return value !== undefined && sideOf(goal, { value, low: value, high: value }) === 'met';
}

/** SLOs that the plan does not predict, and that were met before it and are missed now. */
function newlyMissed(
  predictions: readonly StatedPrediction[],
  before: ReadonlyMap<string, number>,
  policy: PolicyContent,
  { atLoad }: ServedRecords,
): RecordedOutcome[] {
  const evidence = { minSamples: policy.evidence.min_samples, confidence: policy.evidence.confidence };
  return goalsOf(policy).flatMap((goal) => {
    const { metric, stat } = goal;
    if (predictions.some((one) => one.metric === metric && one.stat === stat)) return [];
    const value = achievedIn(atLoad, goal as { metric: Metric; stat: Goal['stat'] }, evidence);
    if (!value || !isNewlyMissed(goal, before, policy, value)) return [];
    const now = before.get(`${metric} ${stat}`) as number;
    const unpredicted = { predicted: null, within: null, logError: null, hasMoved: false };
    return [{ metric, stat, now, achieved: achievedValue(value), result: 'worse' as const, ...unpredicted }];
  });
}

/** Lengths of requests that differ by more than a quarter are others than those that a plan assumes. */
function haveMoved(
  records: readonly ServiceRecord[],
  kind: 'inputTokens' | 'outputTokens',
  assumed: number | null | undefined,
): boolean {
  const seen = quantile(mergeHistograms(records.map((record) => record[kind])), 0.95);
  if (seen === null || assumed === null || assumed === undefined) return false;
  return differs(seen, assumed);
}

function achievedValue({ value, low, high, n }: MeasuredValue): AchievedValue {
  return { value: exact(value), low: exact(low), high: Number.isFinite(high) ? exact(high) : null, n };
}
