import { useQuery } from '@tanstack/react-query';
import type { Plan } from '../api/items.js';
import { policyQuery } from '../api/policy.js';
import { Facts } from '../ui/facts.js';
import { IntervalPlot } from '../ui/interval-plot.js';
import { metricText, rangeText } from '../ui/text/number-text.js';
import {
  limitOfPrediction,
  metricName,
  planPrediction,
  type MetricPrediction,
  type PredictionLimit,
} from './prediction-text.js';

/** The prediction of the autopilot for its plan: each metric now and after the rollout, as a picture with its limit. */
export function PredictionPicture({ plan }: { plan: Plan }) {
  const { data: policy } = useQuery(policyQuery(plan.deployment));
  const { metrics = [] } = planPrediction(plan) ?? {};
  return (
    <div className="space-y-3">
      {metrics.map((prediction) => (
        <MetricPicture
          key={metricName(prediction)}
          prediction={prediction}
          limit={limitOfPrediction(prediction, plan, policy)}
        />
      ))}
    </div>
  );
}

function MetricPicture({ prediction, limit }: { prediction: MetricPrediction; limit: PredictionLimit | null }) {
  const { metric, now, predicted, basis } = prediction;
  const before = now === null ? [] : [{ name: 'now', value: now, interval: null, text: metricText(metric, now) }];
  const after = {
    name: 'predicted',
    value: predicted.value,
    interval: predicted,
    text: `${metricText(metric, predicted.value)} (${rangeText(metric, predicted)})`,
  };
  return (
    <section aria-label={metricName(prediction)}>
      <h3 className="text-sm font-medium">
        {metricName(prediction)} <span className="text-xs font-normal text-soft">{basis}</span>
      </h3>
      <IntervalPlot
        rows={[
          ...before.map((row) => ({ ...row, tone: 'baseline' as const })),
          { ...after, tone: 'candidate' as const },
        ]}
        limit={limit && { value: limit.value, name: limit.label, text: metricText(metric, limit.value) }}
      />
    </section>
  );
}

/** The cost of the plan, and the conditions under which the prediction holds. */
export function PredictionFacts({ plan }: { plan: Plan }) {
  return <Facts of={planPrediction(plan)?.facts ?? {}} />;
}

/** Both, for an approver to read before the approval; nothing if the plan has no prediction of the autopilot. */
export function PlanPredictionSummary({ plan }: { plan: Plan }) {
  if (!planPrediction(plan)) return null;
  return (
    <div className="space-y-2">
      <PredictionPicture plan={plan} />
      <PredictionFacts plan={plan} />
    </div>
  );
}
