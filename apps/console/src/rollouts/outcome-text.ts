import type { Plan } from '../api/items.js';
import type { Tone } from '../ui/chip.js';
import { metricText, rangeText } from '../ui/text/number-text.js';
import type { MetricPrediction } from './prediction-text.js';

export type Outcome = Plan['outcomes'][number];

const RESULTS: Record<string, [text: string, tone: Tone]> = {
  as_predicted: ['as predicted', 'good'],
  better: ['better, and not as predicted', 'good'],
  worse: ['worse, and not as predicted', 'bad'],
  no_effect: ['no certain effect', 'warn'],
  assumptions_moved: ['not comparable, because the load or the requests have changed', 'plain'],
  rolled_back: ['not measured, because it was rolled back or replaced', 'plain'],
};

/** The result in words; one of a later api stays as it is. */
export function resultText({ result, predicted, within }: Pick<Outcome, 'result' | 'predicted' | 'within'>): {
  text: string;
  tone: Tone;
} {
  if (result === null) return { text: 'too little evidence in time', tone: 'plain' };
  // Such a value is as predicted or has no prediction, and is worse because of its SLO.
  if (result === 'worse' && (predicted === null || within))
    return { text: 'worse, because its SLO is newly missed', tone: 'bad' };
  const [text, tone] = RESULTS[result] ?? [(result as string).replaceAll('_', ' '), 'plain'];
  return { text, tone };
}

const PHASES: Record<string, string> = { promotion: 'Soon after the rollout', window: 'After the outcome window' };

/** When an outcome was recorded. */
export const phaseText = ({ phase }: Pick<Outcome, 'phase'>): string =>
  PHASES[phase] ?? (phase as string).replaceAll('_', ' ');

/** `149 ms (140 to 160 ms), 812 samples`; null if nothing was measured. */
export function achievedText({ metric, achieved }: Pick<Outcome, 'metric' | 'achieved'>): string | null {
  if (!achieved) return null;
  const samples = `${achieved.n.toLocaleString('en')} ${achieved.n === 1 ? 'sample' : 'samples'}`;
  return `${metricText(metric, achieved.value)} (${rangeText(metric, achieved)}), ${samples}`;
}

/** The outcomes of one prediction, oldest first. An older api has none. */
export const outcomesOf = (
  { metric, stat }: Pick<MetricPrediction, 'metric' | 'stat'>,
  { outcomes = [] }: { outcomes?: readonly Outcome[] },
): Outcome[] => outcomes.filter((one) => one.metric === metric && one.stat === stat && one.predicted !== null);

/** Outcomes without a prediction: SLOs that are newly missed. */
export const unpredictedOutcomes = ({ outcomes = [] }: { outcomes?: readonly Outcome[] }): Outcome[] =>
  outcomes.filter(({ predicted }) => predicted === null);

/** Whether the prediction could be compared with what was measured; null before it was. */
export function assumptionsText({
  assumptions_hold: hold = null,
}: {
  assumptions_hold?: boolean | null;
}): string | null {
  if (hold === null) return null;
  return hold
    ? 'The assumptions of the plan held.'
    : 'The assumptions of the plan no longer held, so its prediction cannot be compared.';
}
