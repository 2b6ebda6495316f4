import { replicasText } from '@slipway/diagnosis';
import { costOf } from './budget.js';
import { changesTo, fixedCount, obstacleTo } from './knobs.js';
import { shareInterval } from './goals.js';
import type { Review } from './review.js';
import type { AvailabilityResult, MetricPrediction, SizingResult } from './situation.js';
import { numberText, predictionText, valueText } from './texts.js';

/** With one instance, each of its failures is one of the service. */
const ENOUGH = 2;

/**
 * A second instance serves while the first one is down. If both fail independently, a minute is refused only if both are
 * down in it, so the predicted share is the square of the measured one.
 */
export function availabilityProposal(review: Review, missed: AvailabilityResult): SizingResult {
  const { scale, policy } = review;
  const wrong = standing(missed);
  if (scale.min_replicas === 0)
    return { because: 'availability', message: `${wrong} min_replicas is 0, so requests also wait for starts.` };
  if (scale.min_replicas >= ENOUGH)
    return {
      because: 'availability',
      message: `${wrong} ${replicasText(scale.min_replicas)} run already, so one that fails is not the cause.`,
    };
  const to = Math.max(ENOUGH, policy.reliability.min_replicas);
  const values = fixedCount(review, to);
  const obstacle = obstacleTo(values, review);
  if (obstacle) return { ...obstacle, message: `${wrong} ${replicasText(to)} would help. ${obstacle.message}` };
  const prediction = predicted(missed, policy.evidence.confidence);
  const { risks, ...cost } = costOf(review, scale.min_replicas, to);
  return {
    options: [
      {
        kind: 'scale_up',
        changes: changesTo(values, review, wrong),
        sentences: [
          wrong,
          `Run ${replicasText(to)} instead of ${scale.min_replicas}, so that one serves while another is down.`,
          `If they fail independently of each other, that predicts ${predictionText(prediction, 0)}.`,
        ],
        predictions: [prediction],
        basis: 'The square of the measured share of minutes, as if instances failed independently of each other',
        replicas: { from: scale.min_replicas, to },
        ...cost,
        risk: { level: 'low', reasons: risks },
      },
    ],
  };
}

/** Such as `Availability is 99.2 %, limit 99.9: requests were refused in 13 of 1,600 minutes.` */
export function standing({ value, threshold, minutes, refusedMinutes }: AvailabilityResult): string {
  const now = value ? valueText('availability_percent', value.value) : 'unknown';
  return `Availability is ${now}, limit ${threshold}: requests were refused in ${numberText(refusedMinutes)} of ${minutes.toLocaleString('en-US')} minutes, because no instance could be had.`;
}

function predicted({ refusedMinutes, minutes, value }: AvailabilityResult, confidence: number): MetricPrediction {
  const { low, high } = shareInterval(refusedMinutes, minutes, confidence);
  const percent = (share: number) => Math.round((1 - share ** 2) * 1e8) / 1e6;
  return {
    metric: 'availability_percent',
    stat: 'rate',
    now: value?.value ?? null,
    predicted: { value: percent(refusedMinutes / minutes), low: percent(high), high: percent(low) },
  };
}
