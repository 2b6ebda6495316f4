import { effectiveScaling, type EffectiveScaling, type RevisionSpec, type ScalingSpec } from '@slipway/contracts';
import type { ArrivalCount, ServiceRecord } from '@slipway/dataplane';
import type { Diagnosis, Goal, GoalDiagnosis, Interval } from '@slipway/diagnosis';
import type { Money } from '@slipway/platform-config';
import type { FailedIdea, PlanKind } from '@slipway/ports/plans';
import type { PolicyContent } from '@slipway/ports/policies';
import type { PlanRisk } from '../plans/plan-boundaries.js';
import type { SpecChange } from '../plans/plan-changes.js';

/** The records that a review judges. */
export interface ReviewRecords {
  revisionId: string;
  /** The time that is judged, of the active revision alone. */
  from: Date;
  to: Date;
  window: ServiceRecord[];
  /** All revisions that differ from the active one only in `scaling`, including the window. */
  history: ServiceRecord[];
  /** Arrivals of the same revisions. */
  arrivals: ArrivalCount[];
  /** Minutes of the active revision, and those in which a request was refused because no instance could be had. */
  availability: { minutes: number; refusedMinutes: number };
}

/** The earlier actions of the autopilot for this deployment. */
export interface ProposalHistory {
  hasOpenPlan: boolean;
  lastProposedAt: Date | null;
  /** Proposals in the budget's period, and the GPU hours they were estimated to cost. */
  proposedInPeriod: number;
  gpuHoursInPeriod: number;
}

/** Everything that a review depends on. */
export interface Situation {
  now: Date;
  deploymentName: string;
  policy: PolicyContent;
  spec: RevisionSpec;
  /** The overrides of the deployment, which its plans cannot change. */
  override: Partial<ScalingSpec> | null;
  /** Undefined if no gateway reports. */
  records: ReviewRecords | undefined;
  /** Whether an operation is changing the deployment at this moment. */
  isChanging: boolean;
  history: ProposalHistory;
  /** Devices of one instance, and the price of one of them for one hour; null if the operator states none. */
  devices: { accelerator: string | null; count: number };
  /** A digest of the engine's entry in the operator's configuration; null without one. */
  engineVersion: string | null;
  price: Money | null;
  /** The largest |ln(achieved ÷ predicted)| of each earlier plan of the tenant. */
  calibration: readonly number[];
  /** Ideas that are too recent to be tried again. */
  failedIdeas: readonly FailedIdea[];
}

/** Why nothing needs to be done, or why it has to wait. */
export type QuietReason =
  | 'off'
  | 'no_slos'
  | 'operation_in_progress'
  | 'open_plan'
  | 'cooldown'
  | 'barred'
  | 'met'
  | 'observe'
  | 'freeze_window'
  | 'budget'
  | 'no_budget'
  | 'no_allowed_knob'
  | 'deployment_overrides'
  | 'no_price'
  | 'no_accelerator'
  | 'direction'
  | 'min_gain'
  | 'no_prediction'
  | 'right_size_after';

/** Why the evidence is too thin for a conclusion. */
export type ThinReason = 'samples' | 'duration' | 'confidence' | 'no_gateway' | 'not_recorded_so_long';

/** Why nothing is proposed although an SLO is missed. */
export type Restraint =
  | 'observe'
  | 'freeze_window'
  | 'budget'
  | 'barred'
  | 'no_allowed_knob'
  | 'deployment_overrides'
  | 'not_runnable'
  | 'no_capacity'
  | 'errors'
  | 'intrinsic'
  | 'starting'
  | 'unknown'
  | 'availability'
  | 'no_prediction';

/** A share of minutes, judged without a curve. */
export interface AvailabilityResult {
  /** Percent, by the policy. */
  threshold: number;
  minutes: number;
  refusedMinutes: number;
  /** Percent of the minutes without a refusal; null without minutes. */
  value: (Interval & { n: number }) | null;
  verdict: 'met' | 'missed' | 'thin';
}

/** A predicted statistic. */
export interface MetricPrediction {
  metric: Goal['metric'] | 'availability_percent';
  stat: Goal['stat'];
  now: number | null;
  /** Interval of the present value; absent if it is itself a prediction. */
  baseline?: { low: number; high: number; n: number };
  predicted: Interval;
}

/** One change that could help. Whether the targets can run it is checked later. */
export interface Proposal {
  kind: Exclude<PlanKind, 'manual' | 'revert'>;
  changes: Required<SpecChange>[];
  /** The problem, the change, and its effect. */
  sentences: [string, string, string];
  predictions: MetricPrediction[];
  basis: string;
  /** Instances at the peak, before and after. */
  replicas: { from: number; to: number };
  /** At most: as if the change were kept for the whole period of the budget. */
  gpuHours: number;
  /** Money for one hour; null without a price. */
  cost: { now: Money; predicted: Money } | null;
  risk: PlanRisk;
}

/** A request that a person can send, if a plan cannot help. */
export interface SuggestedRequest {
  scaling: Partial<ScalingSpec>;
}

/** The conclusion from missed goals: options, the surest first, or the reason for none. */
export type SizingResult =
  { options: Proposal[] } | { because: Restraint; message: string; request?: SuggestedRequest };

/**
 * The result of a review. `quiet`: there is nothing to do yet. `insufficient`: the evidence is too thin for a conclusion.
 * `missed`: an SLO is missed and nothing is proposed, for the given reason. `propose`: the first of the options that the
 * targets can run.
 */
export type Finding = { message: string } & (
  | { kind: 'quiet'; because: QuietReason; until?: Date }
  | { kind: 'insufficient'; because: ThinReason; goals: GoalDiagnosis[] }
  | { kind: 'missed'; because: Restraint; goals: GoalDiagnosis[]; until?: Date; request?: SuggestedRequest }
  | { kind: 'propose'; goals: GoalDiagnosis[]; options: Proposal[] }
);

export interface Evaluation {
  finding: Finding;
  /** Undefined without records. */
  diagnosis: Diagnosis | undefined;
  availability: AvailabilityResult | undefined;
  /** Requests per second that the plan is made for; null if unknown. */
  peakRate: number | null;
}

/**
 * Bounds of a soak. The gate compares latencies for the first time after 10 s, so a shorter soak would hardly be judged
 * before its end.
 */
const SOAK_SECONDS = { least: 30, most: 180 };
export const PERIOD_DAYS = { day: 1, week: 7, month: 30 } as const;

/** Returns how long each step of a plan's rollout is judged: as long as the policy wants evidence to span. */
export function soakSecondsOf({ evidence }: Pick<PolicyContent, 'evidence'>): number {
  return Math.min(SOAK_SECONDS.most, Math.max(SOAK_SECONDS.least, evidence.min_duration_seconds));
}

/** Returns the length of a budget's period, in days. */
export function periodDays(policy: PolicyContent): number {
  return PERIOD_DAYS[policy.experiment_budget.period];
}

export interface Scale extends EffectiveScaling {
  followsLoad: boolean;
}

/** The scaling in effect. Without a target load, the number of instances is fixed. */
export function scaleOf({ spec, override }: Pick<Situation, 'spec' | 'override'>): Scale {
  const scaling = effectiveScaling(spec.scaling, override);
  return { ...scaling, followsLoad: scaling.target_in_flight !== null };
}

/** Instances that serve the peak: fixed, or as many as the records show. */
export function replicasNow(scale: Scale, window: readonly ServiceRecord[]): number {
  const least = Math.max(1, scale.min_replicas);
  return scale.followsLoad ? Math.max(least, ...window.map(({ instances }) => instances)) : least;
}
