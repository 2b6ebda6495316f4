import type { Metric, Stat } from '@slipway/contracts';
import type { ArrivalCount, ServiceRecord } from '@slipway/dataplane';

/** A metric that must stay on the better side of its threshold, which is in the metric's unit. */
export interface Goal {
  metric: Metric;
  stat: Stat;
  threshold: number;
}

export interface Interval {
  value: number;
  low: number;
  high: number;
}

/** A measured value with its confidence interval and number of samples. */
export interface MeasuredValue extends Interval {
  n: number;
}

/** The instances of a revision, among which gateways choose the least loaded one. */
export interface Pool {
  replicas: number;
  /** Requests that one instance serves at once; others wait in it. Absent if not declared. */
  slots?: number;
}

/** The traffic, in the numbers that a policy declares. */
export interface WorkloadNumbers {
  /** Requests per second. */
  requestRate?: number;
  /** Requests in progress at once. */
  concurrency?: number;
  inputTokensP95?: number;
  outputTokensP95?: number;
}

export type ObservedWorkload = { [M in keyof WorkloadNumbers]-?: number | null };

export interface DiagnosisInput {
  goals: readonly Goal[];
  /** `confidence` is one-sided, 0.5..1: intervals have the level 2 · confidence − 1. */
  evidence: { minSamples: number; confidence: number };
  /** Records of the time that is judged, oldest first. */
  window: readonly ServiceRecord[];
  /** All records with the same engine settings, including the window, oldest first. */
  history: readonly ServiceRecord[];
  /** Arrivals of the same revisions, oldest first. */
  arrivals: readonly ArrivalCount[];
  declared: WorkloadNumbers;
  pool: Pool;
  /** A larger share of failures explains a missed latency. 0..1. */
  errorLimit: number;
  /** |ln(achieved ÷ predicted)| of earlier plans, one score a plan. */
  calibration: readonly number[];
}

/**
 * Why a goal is missed. `met`: it is not. `errors`: failures explain it. `intrinsic`: requests that were nearly alone on
 * an instance miss it too. `load_dependent`: requests at a load that was seen meet it. `starting`: only requests of
 * instances that had just started miss it. `unknown`: the records do not show why.
 */
export type Cause = 'met' | 'errors' | 'intrinsic' | 'load_dependent' | 'starting' | 'unknown';

/** Why a diagnosis lacks a conclusion or a number. */
export type Gap =
  /** Too few samples. */
  | 'samples'
  /** The samples do not span the window. */
  | 'duration'
  /** The limit is within the confidence interval. */
  | 'confidence'
  /** The load that the prediction needs was never seen. */
  | 'never_seen'
  /** The engines' caches were nearly full, so the number of requests does not explain the latency. */
  | 'cache_full'
  /** Requests in the window have other lengths than the older records. */
  | 'tokens_moved'
  /** The metric is not measured by load. */
  | 'not_by_load'
  /** By the arrivals, the present number of instances would be enough, but it is not: something else causes the load. */
  | 'contradicted'
  /** No number of instances is enough. */
  | 'out_of_reach';

/** Statistic of the goal at one load, in requests in flight on an instance. */
export interface CurvePoint extends MeasuredValue {
  load: number;
}

export interface GoalDiagnosis {
  goal: Goal;
  cause: Cause;
  because?: Gap;
  /** In the window; null without samples. */
  value: MeasuredValue | null;
  /** At loads below 1.42 requests in flight; null if too few requests were that alone. */
  idle: MeasuredValue | null;
  /** With `replicas.needed` instances at the peak. */
  predicted: Interval | null;
  replicas: { now: number; needed: number | null; atRate: number | null };
  curve: CurvePoint[];
  /** Sentences with numbers and units. */
  message: string;
}

export interface Diagnosis {
  workload: {
    declared: WorkloadNumbers;
    observed: ObservedWorkload;
    /** Members whose declared and observed values differ by more than a quarter. */
    moved: (keyof WorkloadNumbers)[];
  };
  goals: GoalDiagnosis[];
  /** The least number of instances that meets all goals at the peak; null if that is not known. */
  needed: number | null;
}
