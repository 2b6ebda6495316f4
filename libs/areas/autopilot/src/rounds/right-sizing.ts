import { replicasText, type GoalDiagnosis } from '@slipway/diagnosis';
import { costOf } from './budget.js';
import { changesTo, obstacleTo } from './knobs.js';
import { RECORDED_SECONDS, shareInterval } from './goals.js';
import { effectText, heldText, SIZING_BASIS } from './sizing.js';
import { meetsAll, predictionsAt, type Review } from './review.js';
import type { Proposal, QuietReason } from './situation.js';
import { durationText, listText, numberText, rateText, standingText } from './texts.js';

/** The conclusion while every goal is met: an option, or the reason for none. */
export type ImprovementResult = { option: Proposal } | { because: QuietReason; message: string; until?: Date };

/** A part of what something costs, in percent, with its interval. */
export interface Gain {
  value: number;
  low: number;
}

/**
 * Returns a plan for fewer replicas if they would have been enough for as long as the policy requires, and if those that
 * remain meet every goal with all of the load.
 *
 * @param leastGainPercent of the instance hours
 */
export function fewerReplicas(
  review: Review,
  goals: readonly GoalDiagnosis[],
  leastGainPercent: number,
): ImprovementResult {
  const { scale, diagnosis, policy } = review;
  const { needed } = diagnosis;
  const { min_replicas: least, spare_replicas: spare } = policy.reliability;
  const from = scale.min_replicas;
  const standing = metText(goals);
  if (needed === null) return { because: 'met', message: `${standing} How many replicas are enough is unknown.` };
  const lowest = Math.max(1, least, needed + spare);
  const sized = `${standing} ${sizeText(review, needed)}`;
  if (lowest >= from) return { because: 'met', message: `${sized}${heldText(review)}` };
  const tooEarly = patience(review);
  if (tooEarly) return { because: 'right_size_after', message: `${sized} ${tooEarly.message}`, until: tooEarly.until };
  const to = firstSafe(review, goals, lowest, from);
  if (to === undefined)
    return {
      because: 'no_prediction',
      message: `${sized} With fewer, the upper bound of a prediction would be beyond its limit, or the load was never seen.`,
    };
  return withGain(review, goals, { from, to, sized, leastGainPercent });
}

/** Such as `2 of 4 replicas and 1 spare are needed up to 8.1 requests/s.` */
function sizeText({ replicas, policy, predictor: { peakRate } }: Review, needed: number): string {
  const { spare_replicas: spare } = policy.reliability;
  const extra = spare > 0 ? ` and ${spare} spare` : '';
  const peak = peakRate === null ? '' : ` up to ${rateText(peakRate)}`;
  if (needed > replicas)
    return `By the values at each load, ${replicasText(needed)}${extra} would be needed${peak}, and ${replicas === 1 ? '1 runs' : `${replicas} run`}.`;
  return `${needed} of ${replicasText(replicas)}${extra} ${needed === 1 && spare === 0 ? 'is' : 'are'} needed${peak}.`;
}

/** The fewest replicas whose predictions are inside every limit even at their worse end. */
function firstSafe(review: Review, goals: readonly GoalDiagnosis[], lowest: number, from: number): number | undefined {
  for (let count = lowest; count < from; count += 1) if (meetsAll(goals, predictionsAt(review, count))) return count;
  return undefined;
}

interface SmallerCount {
  from: number;
  to: number;
  sized: string;
  leastGainPercent: number;
}

function withGain(
  review: Review,
  goals: readonly GoalDiagnosis[],
  { from, to, sized, leastGainPercent: least }: SmallerCount,
): ImprovementResult {
  const gain = gainOf(review, from, to);
  const gainText = `${numberText(gain.value)} % of its instance hours`;
  if (gain.low <= 0 || gain.value < least)
    return {
      because: 'min_gain',
      message: `${sized} ${replicasText(to)} would save ${gainText}, and promotion.min_gain_percent is ${numberText(least)}.`,
    };
  const values = { min_replicas: to };
  const obstacle = obstacleTo(values, review);
  if (obstacle)
    return { because: obstacle.because, message: `${sized} ${replicasText(to)} would be enough. ${obstacle.message}` };
  const predictions = predictionsAt(review, to);
  const { risks, ...cost } = costOf(review, from, to);
  const seconds = review.policy.reliability.right_size_after_seconds;
  return {
    option: {
      kind: 'scale_down',
      changes: changesTo(values, review, `${listText(goals.map(standingText))}: fewer replicas are enough`),
      sentences: [
        `${sized.slice(0, -1)}, for at least ${durationText(seconds)}.`,
        `Run ${replicasText(to)} instead of ${from}, which saves ${gainText}.`,
        effectText(review, predictions),
      ],
      predictions,
      basis: SIZING_BASIS,
      replicas: { from, to },
      ...cost,
      risk: { level: 'low', reasons: risks },
    },
  };
}

/** Says what is still missing until fewer replicas may be proposed; undefined if nothing is. */
function patience({ records, now, policy }: Review): { message: string; until?: Date } | undefined {
  const { right_size_after_seconds: seconds } = policy.reliability;
  const first = Math.min(...[records.arrivals[0], records.history[0]].map((one) => one?.at.getTime() ?? Infinity));
  if (now.getTime() - first >= seconds * 1_000) return undefined;
  const known = Number.isFinite(first) ? (now.getTime() - first) / 1_000 : 0;
  const message = `reliability.right_size_after_seconds waits for ${durationText(seconds)} of records, and there are ${durationText(known)}.`;
  if (seconds > RECORDED_SECONDS) return { message: `${message} They are kept for ${durationText(RECORDED_SECONDS)}.` };
  return { message, until: new Date(first + seconds * 1_000) };
}

/**
 * Returns what part of the instance hours is saved. A fixed number falls for sure; one that follows the load is saved
 * only in the minutes in which nothing but the minimum kept it up.
 */
export function gainOf({ scale, records }: Review, from: number, to: number): Gain {
  const full = ((from - to) / from) * 100;
  if (!scale.followsLoad) return { value: full, low: full };
  const { history } = records;
  if (history.length === 0) return { value: 0, low: 0 };
  const atMinimum = history.filter(({ instances }) => instances <= from);
  const total = history.reduce((sum, { instances }) => sum + Math.max(1, instances), 0);
  const saved = (atMinimum.length * (from - to) * 100) / total;
  const { low } = shareInterval(atMinimum.length, history.length, CONFIDENCE);
  return { value: saved, low: (saved * low * history.length) / Math.max(1, atMinimum.length) };
}

const CONFIDENCE = 0.95;

/** Such as `All SLOs are met: TTFT p95 is 212 ms, limit 500.` */
export function metText(goals: readonly GoalDiagnosis[]): string {
  return goals.length > 0 ? `All SLOs are met: ${listText(goals.map(standingText))}.` : 'The policy has no SLO.';
}
