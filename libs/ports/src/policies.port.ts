import type { Metric, Stat } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';

export const POLICIES = Symbol('PoliciesPort');

/** A metric that must stay on the better side of its threshold, which is in the metric's unit. */
export interface Slo {
  metric: Metric;
  stat: Stat;
  threshold: number;
}

/** Kinds of use. Each has typical values for what a workload does not declare. */
export const WORKLOAD_PROFILES = ['chat', 'rag', 'code', 'agent', 'batch', 'embedding'] as const;
export type WorkloadProfile = (typeof WORKLOAD_PROFILES)[number];

interface TokenPercentiles {
  p50?: number;
  p95?: number;
}

/** The use that the owner expects. */
export interface WorkloadDeclaration {
  profile?: WorkloadProfile;
  /** Requests per second at the peak. */
  request_rate?: number;
  /** Requests in flight at the peak. */
  concurrency?: number;
  input_tokens?: TokenPercentiles;
  output_tokens?: TokenPercentiles;
}

/** Objectives that are no metric of the gateways: device hours and money for a million output tokens. */
export const EFFICIENCY_METRICS = ['gpu_hours_per_mtok', 'cost_per_mtok'] as const;
export type EfficiencyMetric = (typeof EFFICIENCY_METRICS)[number];
export type ObjectiveMetric = Metric | EfficiencyMetric;

/** The limits and goals that a deployment's owner set, complete with defaults. Field names are those of the API. */
export interface PolicyContent {
  mode: 'off' | 'observe' | 'recommend';
  workload?: WorkloadDeclaration;
  /** Versions of the previous release may have a direction that is not the better one of the metric. */
  objective?: { metric: ObjectiveMetric; direction: 'minimize' | 'maximize' };
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
    /**
     * The settings that a plan may change. Absent: any, though the autopilot only changes `scaling.min_replicas`.
     * Empty: none.
     */
    allowed_knobs?: string[];
  };
  reliability: {
    max_error_rate?: number;
    min_availability_percent?: number;
    min_replicas: number;
    /** Instances that stay in addition to those that are needed. */
    spare_replicas: number;
    /** How long fewer instances must have been enough before fewer are proposed. */
    right_size_after_seconds: number;
    freeze_windows: { start: string; end: string }[];
  };
  promotion: {
    approvals_required: number;
    prevent_self_approval: boolean;
    require_hosted_identity: boolean;
    max_step_percent: number;
    cooldown_seconds: number;
    plan_ttl_seconds: number;
    min_gain_percent: number;
    /** When the second outcome of an executed plan is recorded, counted from its promotion. */
    outcome_window_seconds: number;
  };
}

export interface Policy {
  deploymentId: string;
  /** Rises by one with every change, from 1. The newest hundred versions are kept. */
  version: number;
  content: PolicyContent;
}

/** Offered by policies. */
export interface PoliciesPort {
  /** Returns the current version, or undefined if none was ever set. */
  current(tx: Tx, deploymentId: string): Promise<Policy | undefined>;
  /** The same. @throws policy_not_found (404) */
  get(tx: Tx, deploymentId: string): Promise<Policy>;
  /** Returns one version, current or not; undefined if there is none. */
  version(tx: Tx, deploymentId: string, version: number): Promise<Policy | undefined>;
  /** Deletes all versions of a deployment that is deleted. */
  removeOf(tx: Tx, deploymentId: string): Promise<void>;
}
