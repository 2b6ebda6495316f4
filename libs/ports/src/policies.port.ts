import type { Tx } from '@slipway/platform-database';

export const POLICIES = Symbol('PoliciesPort');

export type SloMetric = 'error_rate' | 'ttft_ms' | 'itl_ms' | 'e2e_latency_ms' | 'output_tokens_per_s';
export type SloStat = 'avg' | 'p50' | 'p90' | 'p95' | 'p99' | 'rate';

/** `error_rate` is a share of 0..1, latencies are milliseconds. `output_tokens_per_s` must not fall below its threshold, the others not rise above. */
export interface Slo {
  metric: SloMetric;
  stat: SloStat;
  threshold: number;
}

/** What a deployment's owner allows and wants, complete with its defaults. Field names are those of the API. */
export interface PolicyContent {
  mode: 'off' | 'observe' | 'recommend';
  workload?: Record<string, unknown>;
  objective?: { metric: SloMetric; direction: 'minimize' | 'maximize' };
  slos: Slo[];
  /** `confidence` is one-sided, 0.5..1. */
  evidence: { min_samples: number; min_duration_seconds: number; max_age_seconds: number; confidence: number };
  experiment_budget: {
    max_gpu_hours?: number;
    max_cost?: { amount: number; currency: string };
    max_experiments?: number;
    max_parallel: number;
    max_traffic_percent: number;
    period: 'day' | 'week' | 'month';
    /** What a plan may change. Absent: anything, though the autopilot keeps to `scaling.min_replicas`. Empty: nothing. */
    allowed_knobs?: string[];
  };
  reliability: {
    max_error_rate?: number;
    min_availability_percent?: number;
    freeze_windows: { start: string; end: string }[];
  };
  promotion: {
    approvals_required: number;
    prevent_self_approval: boolean;
    max_step_percent: number;
    cooldown_seconds: number;
    plan_ttl_seconds: number;
  };
}

export interface Policy {
  deploymentId: string;
  /** Rises by one at every change, from 1. Every version is kept. */
  version: number;
  content: PolicyContent;
}

/** Offered by the Inference optimization area. */
export interface PoliciesPort {
  /** The version in force, or undefined where none was ever set. */
  current(tx: Tx, deploymentId: string): Promise<Policy | undefined>;
  /** One version, also one that is no longer in force; undefined where there is none. */
  version(tx: Tx, deploymentId: string, version: number): Promise<Policy | undefined>;
}
