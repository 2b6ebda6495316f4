import {
  ArrayField,
  BooleanField,
  IntField,
  MoneyDto,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
  ActorDto,
} from '@slipway/platform-http';
import { METRIC_NAMES, STATS, type Metric, type Stat } from '@slipway/contracts';
import {
  EFFICIENCY_METRICS,
  WORKLOAD_PROFILES,
  type ObjectiveMetric,
  type PolicyContent,
  type WorkloadProfile,
} from '@slipway/ports/policies';
import {
  DEFAULT_BUDGET,
  DEFAULT_EVIDENCE,
  DEFAULT_MODE,
  DEFAULT_PROMOTION,
  DEFAULT_RELIABILITY,
} from './policy-defaults.js';
import {
  duplicateSlos,
  evidenceIssues,
  knobIssues,
  objectiveIssues,
  percentileIssues,
  sloIssues,
  windowIssues,
} from './policy-rules.js';

const YEAR_SECONDS = 31_536_000;
const TOKENS_MAX = 10_000_000;
const REPLICAS_MAX = 1_000;
const OUTCOME_WINDOW_MAX_SECONDS = 604_800;

export class TokenCountsDto {
  @IntField({ min: 0, max: TOKENS_MAX, optional: true })
  p50?: number;

  @IntField({ min: 0, max: TOKENS_MAX, optional: true })
  p95?: number;

  static check(counts: TokenCountsDto) {
    return percentileIssues(counts);
  }
}

export class WorkloadDto {
  @StringField({
    enum: WORKLOAD_PROFILES,
    optional: true,
    description: 'Kind of use. It gives typical values for what the workload does not declare',
  })
  profile?: WorkloadProfile;

  @NumberField({
    min: 0,
    max: 1_000_000,
    optional: true,
    description:
      'Requests per second at the peak. Sizing uses the larger of this and the observed peak, so that capacity can be added before the load arrives',
  })
  request_rate?: number;

  @IntField({
    min: 1,
    max: 1_000_000,
    optional: true,
    description:
      'Requests in flight at the same time, on all instances together. Sizing uses the larger of this and the observed number',
  })
  concurrency?: number;

  @ObjectField(() => TokenCountsDto, {
    optional: true,
    description:
      'Tokens of a prompt. If the observed p95 differs by more than 25 %, the diagnosis reports that the workload has moved',
  })
  input_tokens?: TokenCountsDto;

  @ObjectField(() => TokenCountsDto, {
    optional: true,
    description:
      'Tokens of an answer. If the observed p95 differs by more than 25 %, the diagnosis reports that the workload has moved',
  })
  output_tokens?: TokenCountsDto;
}

export class SloDto {
  @StringField({ enum: METRIC_NAMES })
  metric: Metric;

  @StringField({ enum: STATS, optional: true, description: 'Defaults to p95 for values and to rate for counts' })
  stat?: Stat;

  @NumberField({
    min: 0,
    max: 1_000_000_000,
    description:
      'Limit in the unit of the metric, or a share between 0 and 1. It is a minimum for metrics that are better when higher, and a maximum for the others',
  })
  threshold: number;

  static check(slo: SloDto) {
    return sloIssues(slo);
  }
}

export class EvidenceDto {
  @IntField({
    min: 1,
    max: 1_000_000,
    default: DEFAULT_EVIDENCE.min_samples,
    description: 'Fewer requests than this give no conclusion and no plan',
  })
  min_samples: number;

  @IntField({
    min: 1,
    max: YEAR_SECONDS,
    default: DEFAULT_EVIDENCE.min_duration_seconds,
    description:
      'Time that is judged. Records of minutes are kept for 8 days and those of hours for 30; a longer time gives no conclusion. Each step of a rollout that the autopilot plans is judged for the same time, within 30 s and 180 s',
  })
  min_duration_seconds: number;

  @IntField({
    min: 1,
    max: YEAR_SECONDS,
    default: DEFAULT_EVIDENCE.max_age_seconds,
    description: 'Older evidence supports no plan',
  })
  max_age_seconds: number;

  @NumberField({
    min: 0.5,
    max: 0.9999,
    default: DEFAULT_EVIDENCE.confidence,
    description:
      'One-sided confidence that a conclusion needs. Intervals have the level 2 x confidence - 1: 0.95 gives 90 % intervals',
  })
  confidence: number;

  static check(evidence: EvidenceDto) {
    return evidenceIssues(evidence);
  }
}

export class ExperimentBudgetDto {
  @NumberField({
    min: 0,
    max: 1_000_000,
    optional: true,
    description:
      'Maximum device hours that plans may add in a period, including the overlap of their rollouts. 0 forbids plans that add any',
  })
  max_gpu_hours?: number;

  @ObjectField(() => MoneyDto, {
    optional: true,
    description:
      "Maximum cost that plans may add in a period, by the operator's prices. An amount of 0 forbids plans that add cost",
  })
  max_cost?: MoneyDto;

  @IntField({
    min: 0,
    max: 100_000,
    optional: true,
    description:
      'Number of plans that the autopilot may propose in a period. Its limit for trials has no effect yet: Slipway does not run trials',
  })
  max_experiments?: number;

  @IntField({
    min: 1,
    max: 100,
    default: DEFAULT_BUDGET.max_parallel,
    description:
      'Number of trials that may run at the same time. It has no effect yet: Slipway does not run trials. It is stored for the release that does',
  })
  max_parallel: number;

  @NumberField({
    min: 0,
    max: 100,
    default: DEFAULT_BUDGET.max_traffic_percent,
    description: 'Maximum share of the traffic that a candidate may get in its first step',
  })
  max_traffic_percent: number;

  @StringField({
    enum: ['day', 'week', 'month'],
    default: DEFAULT_BUDGET.period,
    description: 'Period of the budget: the last 1, 7 or 30 days',
  })
  period: 'day' | 'week' | 'month';

  @ArrayField('string', {
    maxItems: 64,
    unique: true,
    optional: true,
    item: { min: 1, max: 255, pattern: /^\/?[A-Za-z0-9_~-]+([./][A-Za-z0-9_~-]+)*([./]\*)?$/ },
    example: ['scaling.min_replicas', 'runtime.args.max_num_seqs'],
    description:
      'Paths in the spec of a revision that a plan may change, including everything below them. A bare name is an engine argument. If omitted, a plan may change anything, but the autopilot proposes only scaling.min_replicas. If empty, a plan may change nothing',
  })
  allowed_knobs?: string[];

  static check(budget: ExperimentBudgetDto) {
    return knobIssues(budget.allowed_knobs ?? []);
  }
}

export class FreezeWindowDto {
  @TimestampField()
  start: string;

  @TimestampField()
  end: string;

  static check(window: FreezeWindowDto) {
    return windowIssues(window);
  }
}

export class ReliabilityDto {
  @NumberField({
    min: 0,
    max: 1,
    optional: true,
    description:
      "Share of failed requests, between 0 and 1. It is an SLO of its own, and the threshold of the error rate in the gate of a plan's rollout",
  })
  max_error_rate?: number;

  @NumberField({
    min: 0,
    max: 100,
    optional: true,
    description:
      'Share of minutes in which no request was refused for want of an instance. If one instance misses it, the autopilot proposes two',
  })
  min_availability_percent?: number;

  @IntField({
    min: 1,
    max: REPLICAS_MAX,
    default: DEFAULT_RELIABILITY.min_replicas,
    description: 'No plan of the autopilot goes below this number of instances',
  })
  min_replicas: number;

  @IntField({
    min: 0,
    max: REPLICAS_MAX,
    default: DEFAULT_RELIABILITY.spare_replicas,
    description: 'Instances that stay in addition to those that the SLOs need when the autopilot proposes fewer',
  })
  spare_replicas: number;

  @IntField({
    min: 60,
    max: YEAR_SECONDS,
    default: DEFAULT_RELIABILITY.right_size_after_seconds,
    description:
      'Time for which fewer instances must have been enough before the autopilot proposes fewer. The default is a week, so that a quiet weekend triggers no proposal',
  })
  right_size_after_seconds: number;

  @ArrayField(() => FreezeWindowDto, {
    maxItems: 64,
    default: DEFAULT_RELIABILITY.freeze_windows,
    description: 'Time windows in which the autopilot proposes nothing',
  })
  freeze_windows: FreezeWindowDto[];
}

export class PromotionDto {
  @IntField({
    min: 1,
    max: 32,
    default: DEFAULT_PROMOTION.approvals_required,
    description: 'Number of distinct people who must approve a plan',
  })
  approvals_required: number;

  @BooleanField({
    default: DEFAULT_PROMOTION.prevent_self_approval,
    description:
      'The creator of a plan cannot approve it, not even with another token or with one that descends from theirs',
  })
  prevent_self_approval: boolean;

  @BooleanField({
    default: DEFAULT_PROMOTION.require_hosted_identity,
    description:
      'Only identities that are signed in at the hosted provider can approve a plan, and not if the plan was created with a token that descends from theirs',
  })
  require_hosted_identity: boolean;

  @NumberField({
    min: 1,
    max: 100,
    default: DEFAULT_PROMOTION.max_step_percent,
    description: 'Maximum percentage points by which one canary step of a plan may raise the traffic',
  })
  max_step_percent: number;

  @IntField({
    min: 0,
    max: YEAR_SECONDS,
    default: DEFAULT_PROMOTION.cooldown_seconds,
    description: 'Minimum time between two proposals of the autopilot',
  })
  cooldown_seconds: number;

  @IntField({
    min: 1,
    max: YEAR_SECONDS,
    default: DEFAULT_PROMOTION.plan_ttl_seconds,
    description: 'Time in which a plan can be approved and executed',
  })
  plan_ttl_seconds: number;

  @NumberField({
    min: 0,
    max: 1_000,
    default: DEFAULT_PROMOTION.min_gain_percent,
    description: 'Smaller gains for the objective are not worth a plan',
  })
  min_gain_percent: number;

  @IntField({
    min: 60,
    max: OUTCOME_WINDOW_MAX_SECONDS,
    default: DEFAULT_PROMOTION.outcome_window_seconds,
    description:
      'Time after the promotion of a plan at which its outcome is recorded again. Also the longest wait for enough samples of an outcome. At most a week, because records of minutes are kept for 8 days',
  })
  outcome_window_seconds: number;
}

const MODES = ['off', 'observe', 'recommend'] as const;

export class ObjectiveDto {
  @StringField({
    enum: [...METRIC_NAMES, ...EFFICIENCY_METRICS],
    description:
      "Metric to improve: one of the gateways, or `gpu_hours_per_mtok` and `cost_per_mtok`, the device hours and the cost of a million output tokens. `cost_per_mtok` needs the operator's price of the accelerator",
  })
  metric: ObjectiveMetric;

  @StringField({
    enum: ['minimize', 'maximize'],
    description:
      'The better direction of the metric: `maximize` for `output_tokens_per_s`, and `minimize` for all others. The other direction is refused',
  })
  direction: 'minimize' | 'maximize';

  static check(objective: ObjectiveDto) {
    return objectiveIssues(objective);
  }
}

export class SetPolicyDto {
  @StringField({
    enum: MODES,
    default: DEFAULT_MODE,
    description:
      '`observe` only reports findings as events; `recommend` also proposes plans. The autopilot never executes a plan',
  })
  mode: PolicyContent['mode'];

  @ObjectField(() => WorkloadDto, {
    optional: true,
    description:
      'Expected use of the deployment. Sizing uses the larger of declared and observed load, and the diagnosis shows both',
  })
  workload?: WorkloadDto;

  @ObjectField(() => ObjectiveDto, {
    optional: true,
    description:
      'Metric to improve while all SLOs hold. The autopilot proposes a change for it only if the gain is certain, and at least `promotion.min_gain_percent`',
  })
  objective?: ObjectiveDto;

  @ArrayField(() => SloDto, {
    maxItems: 16,
    default: [],
    description:
      "Service level objectives that must be met; each metric and stat only once. The diagnosis judges each of them, and so does the gate of a plan's rollout",
  })
  slos: SloDto[];

  @ObjectField(() => EvidenceDto, {
    default: DEFAULT_EVIDENCE,
    description: 'Evidence that is required before any conclusion',
  })
  evidence: EvidenceDto;

  @ObjectField(() => ExperimentBudgetDto, {
    default: DEFAULT_BUDGET,
    description: 'Limits of what plans may change, add and cost',
  })
  experiment_budget: ExperimentBudgetDto;

  @ObjectField(() => ReliabilityDto, {
    default: DEFAULT_RELIABILITY,
    description: 'Reliability that no plan may put at risk',
  })
  reliability: ReliabilityDto;

  @ObjectField(() => PromotionDto, {
    default: DEFAULT_PROMOTION,
    description: 'Rules by which a plan becomes a rollout',
  })
  promotion: PromotionDto;

  static check(policy: SetPolicyDto) {
    return duplicateSlos(policy.slos);
  }
}

export class PolicyDto extends SetPolicyDto {
  @StringField({ description: 'Name of the deployment', example: 'chat' })
  deployment: string;

  @IntField({
    min: 1,
    description: 'Increases by one with every change. Every version is kept, and each plan records one',
  })
  version: number;

  @StringField({ description: 'Same value as the ETag header' })
  etag: string;

  @ObjectField(() => ActorDto)
  updated_by: ActorDto;

  @TimestampField()
  updated_at: string;
}

export class PolicyPageDto {
  @ArrayField(() => PolicyDto)
  data: PolicyDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
