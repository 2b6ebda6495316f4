import type { AnswerOf } from '@slipway/sdk';

export type Plan = AnswerOf<'getAutopilotPlan'>;

/** A value with the ends of its interval. Too few samples have no upper end. */
interface MeasuredInterval {
  value: number;
  low: number;
  high: number | null;
}

interface MetricPrediction {
  metric: string;
  stat: string;
  now: number | null;
  predicted: MeasuredInterval;
  confidence: number;
  calibrated_on: number;
}

/** The reader's basis for a decision: the problem, the change, its prediction, and the rollout. */
export function planLines(plan: Plan, consoleUrl: string | undefined): string[] {
  return [
    // One line for each sentence: what is wrong, what to change, what will be different.
    ...plan.summary.split(/(?<=\.) /).map((sentence) => `  ${sentence}`),
    ...predictionsOf(plan).flatMap(({ metric, stat, now, predicted, confidence, calibrated_on: plans }) => [
      `  now:        ${metric} ${stat} ${now === null ? 'unknown' : valueText(metric, now)}`,
      `  predicted:  ${metric} ${stat} ${intervalText(metric, predicted)}, a ${Math.round(confidence * 100)} % interval, ${plans > 0 ? `calibrated on ${plans} plans` : 'not yet calibrated'}`,
    ]),
    `  rollout:    ${rolloutText(plan)}`,
    ...(consoleUrl === undefined ? [] : [`  console:    ${consoleUrl}/plans/${plan.id}`]),
  ];
}

/** The commands with which the reader approves and executes a plan, in this order. */
export function commandsFor({ id, deployment }: Pick<Plan, 'id' | 'deployment'>): [approve: string, execute: string] {
  return [`npx slipway plans approve ${id} --yes`, `npx slipway rollouts create ${deployment} --plan ${id}`];
}

/** The achieved values next to the predicted intervals. */
export function outcomeLines({ outcomes }: Pick<Plan, 'outcomes'>): string[] {
  return outcomes.flatMap(({ metric, stat, now, predicted, achieved, within, result }) => {
    const name = `${metric} ${stat}`;
    const achievedText = achieved
      ? `${intervalText(metric, achieved)}, from ${achieved.n} requests`
      : 'unknown, because too few requests came';
    return [
      ...(now === null ? [] : [`  before:     ${name} ${valueText(metric, now)}`]),
      ...(predicted ? [`  predicted:  ${name} ${intervalText(metric, predicted)}`] : []),
      `  achieved:   ${name} ${achievedText}`,
      ...(within === null ? [] : [`  The achieved value is ${within ? 'inside' : 'outside'} the predicted interval.`]),
      ...(within === false
        ? [`  Result: ${result?.replaceAll('_', ' ') ?? 'unclear, because the values vary much'}`]
        : []),
    ];
  });
}

function predictionsOf({ predicted_impact: impact }: Plan): MetricPrediction[] {
  return (impact?.['metrics'] as MetricPrediction[] | undefined) ?? [];
}

function rolloutText({ execution }: Plan): string {
  const { type, steps = [] } = execution?.strategy ?? { type: 'unknown' };
  const texts = steps.map((step) => `${step.traffic_percent} % of the requests for ${step.soak_seconds} s`);
  return [`${type}${texts.length > 0 ? ': ' : ''}`, texts.join(', then ')].join('');
}

function intervalText(metric: string, { value, low, high }: MeasuredInterval): string {
  const ends = high === null ? `at least ${valueText(metric, low)}` : `${rounded(low)} to ${rounded(high)}`;
  return `${valueText(metric, value)} (${ends})`;
}

function valueText(metric: string, value: number): string {
  return `${rounded(value)}${metric.endsWith('_ms') ? ' ms' : ''}`;
}

/** Three digits, as everywhere: more of them would be noise. */
function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
