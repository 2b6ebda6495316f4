import { isBeyond, isMetric, metricOf, type AnswerOf, type Metric } from '@slipway/sdk';
import { isHigherBetter } from '../../../rollouts/verdicts.js';

export type Metrics = AnswerOf<'getDeploymentMetrics'>;
export type RevisionMetrics = Metrics['data'][number];
export type MetricsPoint = RevisionMetrics['points'][number];

export const STATS = ['p50', 'p95', 'p99'] as const;
export type Stat = (typeof STATS)[number];

export const CLASSES = [
  'all',
  'ok',
  'client_error',
  'overloaded',
  'server_error',
  'connect_error',
  'abandoned',
  'cancelled',
] as const;
export type RequestClass = (typeof CLASSES)[number];

/** A gate in an operation's record; fields that a later api adds are ignored. */
export interface Gate {
  name: string;
  stat?: string;
  check: string;
  operator?: string;
  threshold?: number;
  max_regression_percent?: number;
  /** Of a guard: how much higher than that of the baseline the share may be. */
  max_difference?: number;
  min_samples?: number;
  dry_run?: boolean;
}

const MOST_STEPS = 400;

/** The statistic that judges a gate if it names none. */
export const statOf = ({ name, stat }: Pick<Gate, 'name' | 'stat'>): string =>
  stat ?? (isMetric(name) ? metricOf(name).defaultStat : 'p95');

/** Returns the requests per second of a class in a step. */
export function rateOf(point: MetricsPoint, what: RequestClass): number {
  return what === 'all' ? point.requests_per_s : point.attempts[what] / Math.max(1, point.seconds);
}

export function attemptsOf({ attempts }: Pick<MetricsPoint, 'attempts'>): number {
  const { ok, client_error, overloaded, server_error, connect_error, abandoned, cancelled } = attempts;
  return ok + client_error + overloaded + server_error + connect_error + abandoned + cancelled;
}

/** Returns the value that a gate judges, in a step or over the whole time. */
export function metricValueOf(
  point: MetricsPoint,
  name: string,
  stat: string,
): { value: number | null; samples: number } {
  // The answer may have no values for a gate of an api of another version.
  const values = isMetric(name) ? (point as Partial<Pick<MetricsPoint, Metric>>)[name] : undefined;
  if (!values) return { value: null, samples: 0 };
  const { samples, ...byStat } = values;
  if ('rate' in byStat) return { value: byStat.rate, samples };
  return { value: (byStat as Record<string, number | null>)[stat] ?? null, samples };
}

/** Returns when each step of the whole time begins, in seconds, including steps without requests. */
export function timesOf({ from, to, step_seconds }: Pick<Metrics, 'from' | 'to' | 'step_seconds'>): number[] {
  const first = Date.parse(from) / 1_000;
  const count = Math.min(MOST_STEPS, Math.max(0, Math.ceil((Date.parse(to) / 1_000 - first) / step_seconds)));
  return Array.from({ length: count }, (_, index) => first + index * step_seconds);
}

/**
 * Returns the values of one revision at those times. A step without requests has no latency (null), but a rate of zero.
 * Steps that are not completely reported have no value.
 */
export function seriesOf(
  revision: RevisionMetrics,
  times: readonly number[],
  value: (point: MetricsPoint) => number | null,
  absent: { value: number | null; until: string | null } = { value: null, until: null },
): (number | null)[] {
  const points = new Map(revision.points.map((point) => [Math.round(Date.parse(point.at) / 1_000), point]));
  const until = absent.until === null ? Number.NEGATIVE_INFINITY : Date.parse(absent.until) / 1_000;
  return times.map((time) => {
    const point = points.get(Math.round(time));
    if (point) return value(point);
    return time < until ? absent.value : null;
  });
}

/**
 * Returns the limit of a gate for the candidate, in the unit of its metric; null if
 * it depends on a baseline without a value.
 */
export function limitOf(gate: Gate, baseline: number | null): number | null {
  if (gate.check === 'threshold') return gate.threshold ?? null;
  // Without a baseline, a guard is a threshold.
  if (gate.check === 'guard') return (gate.max_difference ?? 0) + (baseline ?? 0);
  if (gate.max_regression_percent === undefined || baseline === null) return null;
  const worse = isHigherBetter(gate.name) ? -1 : 1;
  return baseline * (1 + (worse * gate.max_regression_percent) / 100);
}

export type GatePosition = 'within' | 'beyond' | 'too few samples';

/**
 * Returns the candidate's position at this moment. The verdict itself is the api's: it knows the
 * bounds, and decides at the end of the soak.
 */
export function gatePositionOf(
  gate: Gate,
  candidate: { value: number | null; samples: number },
  limit: number | null,
): GatePosition {
  if (candidate.value === null || limit === null || candidate.samples < (gate.min_samples ?? 50))
    return 'too few samples';
  const isWorse = isMetric(gate.name) ? isBeyond(gate.name, candidate.value, limit) : candidate.value > limit;
  return isWorse ? 'beyond' : 'within';
}
