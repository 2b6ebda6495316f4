import { isMetric, metricOf } from '@slipway/contracts';
import { replicasText, type Goal, type GoalDiagnosis, type Interval } from '@slipway/diagnosis';
import { costOf, hasSpendingLimit } from './budget.js';
import { changesTo, fixedCount, obstacleTo } from './knobs.js';
import { fewerReplicas, metText, type Gain, type ImprovementResult } from './right-sizing.js';
import { intervalAt, predictionsAt, type Review } from './review.js';
import { effectText, SIZING_BASIS } from './sizing.js';
import type { MetricPrediction } from './situation.js';
import { nameOf, numberText, valueText } from './texts.js';

type Objective = NonNullable<Review['policy']['objective']>;

/** Returns what to improve while every goal is met, by the objective of the policy. */
export function improvementFor(review: Review, goals: readonly GoalDiagnosis[]): ImprovementResult {
  const { objective } = review.policy;
  if (!objective) return fewerReplicas(review, goals, 0);
  const { metric } = objective;
  if (isMetric(metric)) return headroom(review, goals, { ...objective, metric });
  const standing = metText(goals);
  if (objective.direction !== 'minimize')
    return { because: 'direction', message: `${standing} The objective ${metric} can only be minimized.` };
  if (review.devices.count === 0)
    return {
      because: 'no_accelerator',
      message: `${standing} The objective is ${metric}, and the deployment uses no accelerator.`,
    };
  if (metric === 'cost_per_mtok' && !review.price)
    return {
      because: 'no_price',
      message: `${standing} The objective is cost_per_mtok, and the operator's configuration has no price for ${review.devices.accelerator ?? 'its devices'}.`,
    };
  return fewerReplicas(review, goals, review.policy.promotion.min_gain_percent);
}

/** One more replica, if it improves the metric of the objective enough and the policy limits what that may cost. */
function headroom(
  review: Review,
  goals: readonly GoalDiagnosis[],
  { metric, direction }: Objective & { metric: Goal['metric'] },
): ImprovementResult {
  const { better, defaultStat } = metricOf(metric);
  const goal: Goal = goals.map((one) => one.goal).find((one) => one.metric === metric) ?? {
    metric,
    stat: defaultStat,
    threshold: better === 'higher' ? 0 : Number.MAX_SAFE_INTEGER,
  };
  const name = nameOf(goal);
  const standing = metText(goals);
  const none = (because: Extract<ImprovementResult, { because: unknown }>['because'], why: string) => ({
    because,
    message: `${standing} ${why}`,
  });
  if ((direction === 'minimize') !== (better === 'lower'))
    return none('direction', `The objective is to ${direction} ${metric}, which is better when ${better}.`);
  if (!hasSpendingLimit(review.policy))
    return none(
      'no_budget',
      `For more headroom of ${name}, set experiment_budget.max_gpu_hours or max_cost: without a limit nothing is spent on it.`,
    );
  const { replicas, scale, predictor: model } = review;
  const to = replicas + 1;
  const [now, predicted] = [intervalAt(model, goal, replicas), intervalAt(model, goal, to)];
  if (!now || !predicted) return none('no_prediction', `There is no prediction of ${name} for ${replicasText(to)}.`);
  const gain = improvement(now, predicted, better);
  const { min_gain_percent: least } = review.policy.promotion;
  if (gain.low <= 0 || gain.value < least)
    return none(
      'min_gain',
      `One more replica would improve ${name} by ${numberText(gain.value)} % (at least ${numberText(gain.low)} %), and promotion.min_gain_percent is ${numberText(least)}.`,
    );
  const count = scale.followsLoad ? Math.min(to, scale.max_replicas) : to;
  if (count <= scale.min_replicas)
    return none('met', `${replicasText(scale.min_replicas)} run at least, and max_replicas allows no more.`);
  const values = scale.followsLoad ? { min_replicas: count } : fixedCount(review, to);
  const obstacle = obstacleTo(values, review);
  if (obstacle) return none(obstacle.because, obstacle.message);
  const own: MetricPrediction = { metric, stat: goal.stat, now: now.value, predicted };
  const predictions = [own, ...predictionsAt(review, to).filter((one) => nameOf(one) !== name)];
  const { risks, ...cost } = costOf(review, scale.followsLoad ? scale.min_replicas : replicas, to);
  const wrong = `${standing} ${name} is ${valueText(metric, now.value)}, and the objective is to ${direction} it`;
  return {
    option: {
      kind: 'scale_up',
      changes: changesTo(values, review, wrong),
      sentences: [
        `${wrong}.`,
        `Run ${replicasText(to)} instead of ${replicas}, which improves it by ${numberText(gain.value)} % (at least ${numberText(gain.low)} %).`,
        effectText(review, predictions),
      ],
      predictions,
      basis: SIZING_BASIS,
      replicas: { from: replicas, to },
      ...cost,
      risk: { level: 'low', reasons: risks },
    },
  };
}

/** Both predictions share the errors of one model, so the lower bound compares with the present value alone. */
function improvement(now: Interval, predicted: Interval, better: 'lower' | 'higher'): Gain {
  const [best, worst] = better === 'lower' ? [predicted.value, predicted.high] : [predicted.value, predicted.low];
  const percent = (value: number) => ((better === 'lower' ? now.value - value : value - now.value) / now.value) * 100;
  return { value: percent(best), low: percent(worst) };
}
