import { counted, intervalText, type MeasuredInterval } from '../../progress/text.js';
import { wordsOf } from '../../terminal.js';

/** An achieved value of an executed plan, as the api shows it. An older api shows none. */
interface Outcome {
  phase?: unknown;
  metric: string;
  stat?: unknown;
  predicted?: MeasuredInterval | null;
  achieved?: (MeasuredInterval & { n?: number }) | null;
  within?: boolean | null;
  result?: string | null;
}

const RESULTS: Record<string, string> = {
  as_predicted: 'as predicted',
  better: 'better, and not as predicted',
  worse: 'worse, and not as predicted',
  no_effect: 'no certain effect',
  assumptions_moved: 'not comparable, because the load or the requests have changed',
  rolled_back: 'not measured, because it was rolled back or replaced',
};

const PHASES: Record<string, string> = { promotion: 'soon after the rollout', window: 'after the outcome window' };

function outcomesOf(plan: object): Outcome[] {
  const { outcomes } = plan as { outcomes?: readonly (Outcome | null)[] };
  return Array.isArray(outcomes) ? outcomes.filter((one): one is Outcome => typeof one?.metric === 'string') : [];
}

/** `as predicted`. A result of a later api stays as it is. */
function resultText({ result, predicted, within }: Outcome): string {
  if (result === null || result === undefined) return 'too little evidence in time';
  // Such a value is as predicted or has no prediction, and is worse because of its SLO.
  if (result === 'worse' && (!predicted || within)) return 'worse, because its SLO is newly missed';
  return RESULTS[result] ?? wordsOf(result).replaceAll('_', ' ');
}

/** `ttft_ms p95 predicted 154 ms (120 to 198), achieved 149 ms (140 to 160, 812 samples): as predicted` */
function outcomeText(outcome: Outcome): string {
  const { phase, metric, stat, predicted, achieved } = outcome;
  const name = stat === 'rate' || !stat ? metric : `${metric} ${wordsOf(stat)}`;
  const expected = predicted ? `predicted ${intervalText(metric, predicted)}` : 'not predicted';
  const samples = achieved?.n === undefined ? [] : [counted(achieved.n, 'sample')];
  const got = achieved ? `achieved ${intervalText(metric, achieved, samples)}` : 'nothing achieved yet';
  const when = PHASES[String(phase)];
  return `${name} ${expected}, ${got}: ${resultText(outcome)}${when ? `, ${when}` : ''}`;
}

/** The outcomes in one cell, oldest first. */
export const outcomesText = (plan: object): string | undefined =>
  outcomesOf(plan).map(outcomeText).join('; ') || undefined;

/** The results of the newest phase, for a list: `as predicted` or `as predicted; no certain effect`. */
export function newestResultsText(plan: object): string | undefined {
  const outcomes = outcomesOf(plan);
  const newest = outcomes.filter(({ phase }) => phase === outcomes.at(-1)?.phase);
  return [...new Set(newest.map(resultText))].join('; ') || undefined;
}

/** Whether the prediction could be compared with what was measured. */
export function assumptionsHoldText(plan: object): string | undefined {
  const { assumptions_hold: hold } = plan as { assumptions_hold?: unknown };
  return typeof hold === 'boolean' ? (hold ? 'held' : 'no longer held') : undefined;
}
