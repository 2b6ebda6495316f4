import { replicasText, type GoalDiagnosis } from '@slipway/diagnosis';
import { mergeHistograms, quantile, readMetric } from '@slipway/dataplane';
import { isBeyond, metricOf } from '@slipway/contracts';
import { costOf } from './budget.js';
import { changesTo, fixedCount, obstacleTo, type ScalingValues } from './knobs.js';
import { predictionsAt, predictionOf, type Review } from './review.js';
import { availabilityProposal } from './availability.js';
import type { AvailabilityResult, MetricPrediction, Proposal, SizingResult } from './situation.js';
import { goalNames, intervalText, listText, numberText, predictionText, rateText, standingText } from './texts.js';

/**
 * Returns the changes that meet the missed goals. Replicas are added only for goals that requests at a lower load meet:
 * they help against nothing else.
 */
export function proposalsFor(
  review: Review,
  missed: readonly GoalDiagnosis[],
  availability: AvailabilityResult | undefined,
): SizingResult {
  const by = (cause: GoalDiagnosis['cause']) => missed.filter((one) => one.cause === cause);
  const failing = by('errors');
  if (failing.length > 0) return { because: 'errors', message: explain(failing) };
  const found: SizingResult[] = [];
  if (by('load_dependent').length > 0) found.push(forLoad(review, by('load_dependent')));
  if (by('starting').length > 0) found.push(forStarts(review, by('starting')));
  if (availability?.verdict === 'missed') found.push(availabilityProposal(review, availability));
  if (by('intrinsic').length > 0) found.push({ because: 'intrinsic', message: explain(by('intrinsic')) });
  if (by('unknown').length > 0) found.push({ because: 'unknown', message: explain(by('unknown')) });
  const options = found.flatMap((one) => ('options' in one ? one.options : []));
  return options.length > 0 ? { options } : (found[0] as SizingResult);
}

/** The diagnosis has the sentences of each goal. */
function explain(goals: readonly GoalDiagnosis[]): string {
  return goals.map(({ message }) => message).join(' ');
}

function forLoad(review: Review, goals: readonly GoalDiagnosis[]): SizingResult {
  const enough = enoughFor(review, goals);
  if (enough === null) return unpredicted(goals);
  const { reliability } = review.policy;
  const to = Math.max(enough + reliability.spare_replicas, reliability.min_replicas);
  const { scale, replicas } = review;
  if (!scale.followsLoad) {
    if (enough <= replicas) return contradiction(review, goals, enough);
    return proposed(review, goals, { kind: 'scale_up', values: fixedCount(review, to), to });
  }
  if (isAtMaximum(review, goals)) {
    if (to <= scale.max_replicas) return contradiction(review, goals, enough);
    return proposed(review, goals, { kind: 'scale_up', values: { max_replicas: to }, to });
  }
  return retarget(review, goals, Math.max(to, replicas));
}

/**
 * The fewest replicas for the goals that load decides. Another goal that no number of replicas meets must not hide them.
 */
function enoughFor({ diagnosis, predictor }: Review, goals: readonly GoalDiagnosis[]): number | null {
  if (diagnosis.needed !== null) return diagnosis.needed;
  const isBarred = goals.some(({ because }) => because === 'cache_full' || because === 'tokens_moved');
  if (isBarred) return null;
  const met = diagnosis.goals.filter(({ cause }) => cause === 'met');
  return predictor.replicasFor([...goals, ...met].map(({ goal }) => goal)).needed;
}

/** The scaler adds instances earlier if fewer requests are intended per instance. */
function retarget(review: Review, goals: readonly GoalDiagnosis[], to: number): SizingResult {
  const met = review.diagnosis.goals.filter(({ cause }) => cause === 'met');
  const highest = review.predictor.highestLoadWithin([...goals, ...met].map(({ goal }) => goal));
  if (highest === null) return unpredicted(goals);
  // A request counts itself among those in flight, the target does not count the one that comes next.
  const target = Math.max(1, Math.floor(highest) - 1);
  const { target_in_flight: now, max_replicas: most } = review.scale;
  if (target >= (now as number)) return contradiction(review, goals, to);
  const values = to > most ? { max_replicas: to, target_in_flight: target } : { target_in_flight: target };
  return proposed(review, goals, { kind: 'retarget', values, to });
}

/** A higher minimum keeps instances ready for which requests would otherwise wait. */
function forStarts(review: Review, goals: readonly GoalDiagnosis[]): SizingResult {
  const { scale, replicas, diagnosis, policy } = review;
  const why = explain(goals);
  if (!scale.followsLoad)
    return { because: 'starting', message: `${why} The number of replicas is fixed, so more of them start no sooner.` };
  if (scale.min_replicas === 0)
    return {
      because: 'starting',
      message: `${why} min_replicas is 0, so the first request after a pause waits for a start.${heldText(review)}`,
    };
  const wished = Math.max(diagnosis.needed ?? replicas, policy.reliability.min_replicas);
  const to = Math.min(scale.max_replicas, wished);
  if (to <= scale.min_replicas)
    return { because: 'starting', message: `${why} ${replicasText(scale.min_replicas)} at least run already.` };
  return proposed(review, goals, { kind: 'scale_up', values: { min_replicas: to }, to, from: scale.min_replicas });
}

/** Such as ` 12 requests waited for an instance, 95 % of them less than 3.2 s.`; empty if none did. */
export function heldText({ records }: Pick<Review, 'records'>): string {
  const held = mergeHistograms(records.window.map((record) => record.held));
  const longest = quantile(held, 0.95);
  if (longest === null) return '';
  const waited = held.n === 1 ? '1 request' : `${held.n} requests`;
  return ` ${waited} waited for an instance, 95 % of them less than ${numberText(longest / 1_000)} s.`;
}

/** How predictions for another number of replicas were found. */
export const SIZING_BASIS = 'Measured values by load, weighted by the loads that the peak causes with so many replicas';

interface Change {
  kind: Proposal['kind'];
  values: ScalingValues;
  /** Instances at the peak afterwards. */
  to: number;
  from?: number;
}

function proposed(review: Review, goals: readonly GoalDiagnosis[], change: Change): SizingResult {
  const predictions = predictionsAt(review, change.to);
  if (goals.some(({ goal }) => !predictionOf(goal, predictions))) return unpredicted(goals);
  const wrong = wrongText(goals);
  const obstacle = obstacleTo(change.values, review);
  if (obstacle)
    return { ...obstacle, message: `${wrong}. ${replicasText(change.to)} would be enough. ${obstacle.message}` };
  const from = change.from ?? review.replicas;
  const { risks, ...cost } = costOf(review, from, change.to);
  return {
    options: [
      {
        kind: change.kind,
        changes: changesTo(change.values, review, wrong),
        sentences: [`${wrong}.`, `${changeText(change, review)}.`, effectText(review, predictions)],
        predictions,
        basis: SIZING_BASIS,
        replicas: { from, to: change.to },
        ...cost,
        risk: { level: 'low', reasons: risks },
      },
    ],
  };
}

/** Says what is missed, and that less load would help. */
export function wrongText(goals: readonly GoalDiagnosis[]): string {
  return listText(
    goals.map((one) => {
      const { goal, idle } = one;
      if (!idle) return standingText(one);
      return `${standingText(one)}; on an idle instance it is ${intervalText(goal.metric, idle)}, the rest is waiting`;
    }),
  );
}

function changeText({ values, to }: Change, { scale, replicas }: Review): string {
  const texts = Object.entries(values).map(([name, value]) => {
    const before = scale[name as keyof ScalingValues];
    return `scaling.${name} ${value} instead of ${before}`;
  });
  const count = to > replicas ? `Run ${replicasText(to)} instead of ${replicas} at the peak` : 'Add replicas earlier';
  return `${count}: ${texts.join(' and ')}`;
}

/** Such as `Up to 8.1 requests/s that predicts TTFT p95 154 ms (120 to 198, not yet calibrated).` */
export function effectText(
  { predictor: { peakRate, calibration } }: Pick<Review, 'predictor'>,
  predictions: readonly MetricPrediction[],
): string {
  const load = peakRate === null ? 'At the load that was seen' : `Up to ${rateText(peakRate)}`;
  return `${load} that predicts ${listText(predictions.map((one) => predictionText(one, calibration.calibratedOn)))}.`;
}

function unpredicted(goals: readonly GoalDiagnosis[]): SizingResult {
  return {
    because: 'no_prediction',
    message: `${explain(goals)} Nothing is proposed, because no number of replicas has a prediction for ${goalNames(goals.map(({ goal }) => goal))}.`,
  };
}

/** The records promise that what runs is enough, and it is not: a model that is wrong proposes nothing. */
function contradiction({ replicas }: Review, goals: readonly GoalDiagnosis[], enough: number): SizingResult {
  return {
    because: 'unknown',
    message: `${listText(goals.map(standingText))}. By the values at each load, ${replicasText(enough)} should be enough, and ${replicas} run, so something else than load is the cause.`,
  };
}

/** Whether most minutes that missed a goal had as many instances as the maximum allows. */
export function isAtMaximum({ records, scale }: Review, goals: readonly GoalDiagnosis[]): boolean {
  const missed = records.window.filter(({ stats }) =>
    goals.some(({ goal }) => {
      if (metricOf(goal.metric).kind === 'rate') return false;
      const { value } = readMetric(goal.metric, goal.stat, stats);
      return value !== null && isBeyond(goal.metric, value, goal.threshold);
    }),
  );
  const full = missed.filter(({ instances }) => instances >= scale.max_replicas);
  return full.length * 2 > missed.length;
}
