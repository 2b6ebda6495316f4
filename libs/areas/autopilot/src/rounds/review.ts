import {
  diagnose,
  distributionOf,
  Predictor,
  sideOf,
  type Diagnosis,
  type DiagnosisInput,
  type Goal,
  type GoalDiagnosis,
  type Interval,
} from '@slipway/diagnosis';
import { diagnosisInputOf } from './goals.js';
import {
  replicasNow,
  scaleOf,
  type MetricPrediction,
  type ReviewRecords,
  type Scale,
  type Situation,
} from './situation.js';

/** A situation with records, and what follows from them. */
export interface Review extends Situation {
  records: ReviewRecords;
  input: DiagnosisInput;
  diagnosis: Diagnosis;
  predictor: Predictor;
  scale: Scale;
  /** Instances at the peak. */
  replicas: number;
}

export function reviewOf(situation: Situation & { records: ReviewRecords }): Review {
  const scale = scaleOf(situation);
  const input = diagnosisInputOf(situation, situation.records);
  const predictor = new Predictor(input);
  return {
    ...situation,
    input,
    diagnosis: diagnose(input, predictor),
    predictor,
    scale,
    replicas: replicasNow(scale, situation.records.window),
  };
}

/** Whether a goal is a distribution, which loads explain. A rate of failures is not predicted. */
export function isPredictable({ metric }: Goal): boolean {
  return distributionOf(metric) !== undefined;
}

/** Returns what is predicted for each goal with so many instances at the peak. Goals without a prediction are left out. */
export function predictionsAt(
  { diagnosis, predictor: model }: Pick<Review, 'diagnosis' | 'predictor'>,
  replicas: number,
): MetricPrediction[] {
  return diagnosis.goals.flatMap(({ goal, value }) => {
    const predicted = intervalAt(model, goal, replicas);
    return predicted
      ? [
          {
            metric: goal.metric,
            stat: goal.stat,
            now: value?.value ?? null,
            ...(value && { baseline: { low: value.low, high: value.high, n: value.n } }),
            predicted,
          },
        ]
      : [];
  });
}

/** Returns the prediction of one goal at the peak; null if the load that it needs was never seen. */
export function intervalAt(model: Predictor, goal: Goal, replicas: number): Interval | null {
  const found = model.predict(goal, replicas);
  return 'missing' in found ? null : { value: found.value, low: found.low, high: found.high };
}

/** Whether even the worse end of an interval meets the goal. */
export function isInside(goal: Goal, interval: Interval): boolean {
  return sideOf(goal, interval) === 'met';
}

/** Returns the prediction of a goal among others. */
export function predictionOf(goal: Goal, predictions: readonly MetricPrediction[]): MetricPrediction | undefined {
  return predictions.find(({ metric, stat }) => metric === goal.metric && stat === goal.stat);
}

/** Whether the upper bound of each predictable goal is inside with these predictions. */
export function meetsAll(goals: readonly GoalDiagnosis[], predictions: readonly MetricPrediction[]): boolean {
  const predictable = goals.filter(({ goal }) => isPredictable(goal));
  return (
    predictable.length > 0 &&
    predictable.every(({ goal }) => {
      const found = predictionOf(goal, predictions);
      return found !== undefined && isInside(goal, found.predicted);
    })
  );
}
