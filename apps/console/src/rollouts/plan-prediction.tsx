import { useQuery } from '@tanstack/react-query';
import type { Plan } from '../api/items.js';
import { policyQuery } from '../api/policy.js';
import { Facts } from '../ui/facts.js';
import { IntervalPlot } from '../ui/interval-plot.js';
import type { Tone } from '../ui/chip.js';
import { Time } from '../ui/time.js';
import { metricText, rangeText } from '../ui/text/number-text.js';
import {
  achievedText,
  assumptionsText,
  outcomesOf,
  phaseText,
  resultText,
  unpredictedOutcomes,
  type Outcome,
} from './outcome-text.js';
import {
  limitOfPrediction,
  metricName,
  planPrediction,
  type MetricPrediction,
  type PredictionLimit,
} from './prediction-text.js';

/**
 * The prediction of the autopilot for its plan: each metric now and after the rollout, as a picture with its limit. Once
 * the plan is executed, the achieved value is a dot on the predicted interval.
 */
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
          outcomes={outcomesOf(prediction, plan)}
        />
      ))}
    </div>
  );
}

interface MetricPictureProps {
  prediction: MetricPrediction;
  limit: PredictionLimit | null;
  outcomes: readonly Outcome[];
}

function MetricPicture({ prediction, limit, outcomes }: MetricPictureProps) {
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
          ...outcomes.flatMap(achievedRow),
        ]}
        limit={limit && { value: limit.value, name: limit.label, text: metricText(metric, limit.value) }}
      />
      <OutcomeList label={`Outcomes of ${metricName(prediction)}`} outcomes={outcomes} />
    </section>
  );
}

/** The achieved value on the predicted interval; nothing if no value was measured. */
function achievedRow({ metric, phase, predicted, achieved }: Outcome) {
  if (!achieved) return [];
  const name = phase === 'window' ? 'achieved later' : 'achieved';
  const text = `${metricText(metric, achieved.value)} (${rangeText(metric, achieved)})`;
  return [{ name, value: achieved.value, interval: predicted, text, tone: 'achieved' as const }];
}

function OutcomeList({ label, outcomes }: { label: string; outcomes: readonly Outcome[] }) {
  if (outcomes.length === 0) return null;
  return (
    <ul aria-label={label} className="space-y-1 pt-1 text-sm">
      {outcomes.map((outcome) => (
        <OutcomeLine key={`${outcome.phase} ${metricName(outcome)}`} outcome={outcome} />
      ))}
    </ul>
  );
}

const RESULT_TONES: Record<Tone, string> = {
  good: 'font-medium text-good',
  bad: 'font-medium text-bad',
  warn: 'font-medium text-warn',
  info: 'font-medium',
  plain: 'font-medium',
};

function OutcomeLine({ outcome }: { outcome: Outcome }) {
  const { text, tone } = resultText(outcome);
  return (
    <li className="break-words">
      {outcome.predicted === null && `${metricName(outcome)}: `}
      <span className={RESULT_TONES[tone]}>{text}</span>
      <span className="text-soft">
        . {phaseText(outcome)}, <Time at={outcome.at} />
        {outcome.achieved && `: ${achievedText(outcome)}`}
      </span>
    </li>
  );
}

/** Shows changes of an executed plan that have no prediction, and whether its assumptions held. */
export function OutcomeNotes({ plan }: { plan: Plan }) {
  const text = assumptionsText(plan);
  return (
    <>
      <OutcomeList label="Outcomes without a prediction" outcomes={unpredictedOutcomes(plan)} />
      {text && <p className="pt-2 text-sm">{text}</p>}
    </>
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
