import { metricOf } from '@slipway/contracts';
import { sideOf } from './interval.js';
import type { Gap, Goal, GoalDiagnosis, Interval, MeasuredValue } from './types.js';

type FailureClasses = Record<'server_error' | 'connect_error', number>;

/** Returns what a person reads: what was measured, why, and what could help. */
export function messageOf(found: Omit<GoalDiagnosis, 'message'>, failures: FailureClasses): string {
  const { goal, value, cause } = found;
  if (!value) return `${nameOf(goal)} has no samples in the window.`;
  return `${nameOf(goal)} is ${amount(goal, value.value)}, limit ${amount(goal, goal.threshold)}. ${REASONS[cause](found, failures)}`;
}

const REASONS: Record<
  GoalDiagnosis['cause'],
  (found: Omit<GoalDiagnosis, 'message'>, failures: FailureClasses) => string
> = {
  met: ({ replicas: { now, needed, atRate } }) =>
    needed === null || atRate === null
      ? 'The goal is met.'
      : `The goal is met. ${replicasText(needed)} of ${now} are needed at ${rate(atRate)}.`,
  errors: (_, { server_error, connect_error }) =>
    `Failures explain it (${server_error} failed answers, ${connect_error} failed connections), and more instances do not fix failures.`,
  intrinsic: ({ goal, idle }) =>
    `Even on an idle instance it is ${ranged(goal, idle as MeasuredValue)}, so more replicas cannot reach the limit. Another engine setting, shorter prompts, another accelerator or another limit can.`,
  load_dependent: (found) => `${idleText(found)}${sizeText(found)}`,
  starting: ({ goal }) =>
    `Only requests of instances that had just started miss it: without them, ${nameOf(goal)} is within the limit.`,
  unknown: ({ because, curve }) => `The cause is not known: ${gapText(because ?? 'samples', curve[0]?.load)}.`,
};

function idleText({ goal, idle }: Omit<GoalDiagnosis, 'message'>): string {
  if (!idle || sideOf(goal, idle) !== 'met') return 'It is within the limit at lower load. ';
  return `On an idle instance it is ${ranged(goal, idle)}: the rest is waiting. `;
}

function sizeText({ goal, predicted, because, replicas: { needed, atRate }, curve }: Omit<GoalDiagnosis, 'message'>) {
  if (needed === null || atRate === null)
    return `No number of replicas is known: ${gapText(because ?? 'samples', curve[0]?.load)}.`;
  const enough = `${replicasText(needed)} ${needed === 1 ? 'is' : 'are'} enough up to ${rate(atRate)}`;
  return predicted ? `${enough}: predicted ${ranged(goal, predicted)}.` : `${enough}.`;
}

function gapText(gap: Gap, lowestLoad: number | undefined): string {
  const lowest =
    lowestLoad === undefined ? '' : `; the lowest load that was seen is ${rounded(lowestLoad)} requests in flight`;
  return {
    samples: 'there are too few samples',
    duration: 'the samples do not span the window',
    confidence: 'the limit is within the uncertainty of the measurement',
    never_seen: `the loads that matter were never seen${lowest}. A quieter time or more replicas would show them`,
    cache_full:
      'the key-value cache of an instance was more than 85 % full, which decides latencies more than the number of requests',
    tokens_moved: 'the requests became longer or shorter by more than 25 %, so older measurements do not apply',
    not_by_load: 'this metric is not measured by load',
    contradicted:
      'what arrived does not explain the measured load: by the arrivals, the present number of replicas would be enough',
    out_of_reach: 'no number of replicas reaches the limit by what was measured',
  }[gap];
}

/** `154 ms (120 to 198)` */
function ranged(goal: Goal, { value, low, high }: Interval): string {
  return `${amount(goal, value)} (${amount(goal, low, false)} to ${amount(goal, high, false)})`;
}

/** Such as `ttft_ms p95`, as in keys and events. */
export function nameOf({ metric, stat }: Goal): string {
  return stat === 'rate' ? metric : `${metric} ${stat}`;
}

function amount({ metric }: Goal, value: number, withUnit = true): string {
  const { unit } = metricOf(metric);
  if (!Number.isFinite(value)) return 'unbounded';
  if (unit === 'share') return `${rounded(value * 100)} %`;
  return withUnit ? `${rounded(value)} ${unit}` : rounded(value);
}

function rate(perSecond: number): string {
  return `${rounded(perSecond)} requests/s`;
}

export function replicasText(count: number): string {
  return count === 1 ? '1 replica' : `${count} replicas`;
}

/** Three significant digits, and thousands with a comma. */
function rounded(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en-US', { maximumFractionDigits: 3 });
}
