import {
  ArrayField,
  BooleanField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
  ActorDto,
} from '@slipway/platform-http';
import { METRIC_NAMES, STATS, type Metric, type Stat } from '@slipway/contracts';
import {
  evidenceIssues,
  knobIssues,
  percentileIssues,
  sloIssues,
  windowIssues,
  duplicateSlos,
} from './policy-rules.js';
import type { PolicyContent } from '@slipway/ports/policies';

const YEAR_SECONDS = 31_536_000;
const TOKENS_MAX = 10_000_000;

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
  @StringField({ enum: ['chat', 'rag', 'code', 'agent', 'batch', 'embedding'], optional: true })
  profile?: string;

  @NumberField({ min: 0, max: 1_000_000, optional: true, description: 'Requests per second' })
  request_rate?: number;

  @IntField({ min: 1, max: 1_000_000, optional: true, description: 'Concurrent requests' })
  concurrency?: number;

  @ObjectField(() => TokenCountsDto, { optional: true })
  input_tokens?: TokenCountsDto;

  @ObjectField(() => TokenCountsDto, { optional: true })
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
  @IntField({ min: 1, max: 1_000_000, default: 50 })
  min_samples: number;

  @IntField({
    min: 1,
    max: YEAR_SECONDS,
    default: 1_800,
    description:
      'Minimum time span of the evidence. Gateway records are kept for three days; a longer span needs evidence from other sources',
  })
  min_duration_seconds: number;

  @IntField({ min: 1, max: YEAR_SECONDS, default: 604_800 })
  max_age_seconds: number;

  @NumberField({ min: 0.5, max: 0.9999, default: 0.95, description: 'One-sided confidence level' })
  confidence: number;

  static check(evidence: EvidenceDto) {
    return evidenceIssues(evidence);
  }
}

export class MoneyDto {
  @NumberField({ min: 0, max: 1_000_000_000 })
  amount: number;

  @StringField({ pattern: /^[A-Z]{3}$/, description: 'ISO 4217', example: 'EUR' })
  currency: string;
}

export class ExperimentBudgetDto {
  @NumberField({ min: 0, max: 1_000_000, optional: true })
  max_gpu_hours?: number;

  @ObjectField(() => MoneyDto, {
    optional: true,
    description: 'Shown to the approver, because Slipway does not know prices. An amount of 0 forbids proposals',
  })
  max_cost?: MoneyDto;

  @IntField({
    min: 0,
    max: 100_000,
    optional: true,
    description: 'Number of plans that the autopilot may propose in a period',
  })
  max_experiments?: number;

  @IntField({ min: 1, max: 100, default: 1 })
  max_parallel: number;

  @NumberField({
    min: 0,
    max: 100,
    default: 5,
    description: 'Maximum share of the traffic that a candidate may get in its first step',
  })
  max_traffic_percent: number;

  @StringField({
    enum: ['day', 'week', 'month'],
    default: 'month',
    description: 'Period of the budget: the last 1, 7 or 30 days',
  })
  period: 'day' | 'week' | 'month';

  @ArrayField('string', {
    maxItems: 64,
    unique: true,
    optional: true,
    item: { min: 1, max: 255, pattern: /^\/?[\w~-]+([./][\w~-]+)*([./]\*)?$/ },
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
  @NumberField({ min: 0, max: 1, optional: true, description: 'Share between 0 and 1' })
  max_error_rate?: number;

  @NumberField({ min: 0, max: 100, optional: true })
  min_availability_percent?: number;

  @ArrayField(() => FreezeWindowDto, {
    maxItems: 64,
    default: [],
    description: 'Time windows in which the autopilot proposes nothing',
  })
  freeze_windows: FreezeWindowDto[];
}

export class PromotionDto {
  @IntField({ min: 1, max: 32, default: 1, description: 'Number of distinct people who must approve a plan' })
  approvals_required: number;

  @BooleanField({
    default: true,
    description:
      'The creator of a plan cannot approve it, not even with another token or with one that descends from theirs',
  })
  prevent_self_approval: boolean;

  @BooleanField({
    default: false,
    description:
      'Only identities that are signed in at the hosted provider can approve a plan, and not if the plan was created with a token that descends from theirs',
  })
  require_hosted_identity: boolean;

  @NumberField({
    min: 1,
    max: 100,
    default: 25,
    description: 'Maximum percentage points by which one canary step of a plan may raise the traffic',
  })
  max_step_percent: number;

  @IntField({
    min: 0,
    max: YEAR_SECONDS,
    default: 86_400,
    description: 'Minimum time between two proposals of the autopilot',
  })
  cooldown_seconds: number;

  @IntField({
    min: 1,
    max: YEAR_SECONDS,
    default: 604_800,
    description: 'Time in which a plan can be approved and executed',
  })
  plan_ttl_seconds: number;
}

const MODES = ['off', 'observe', 'recommend'] as const;

export const DEFAULT_EVIDENCE: PolicyContent['evidence'] = {
  min_samples: 50,
  min_duration_seconds: 1_800,
  max_age_seconds: 604_800,
  confidence: 0.95,
};
export const DEFAULT_BUDGET: PolicyContent['experiment_budget'] = {
  max_parallel: 1,
  max_traffic_percent: 5,
  period: 'month',
};
export const DEFAULT_PROMOTION: PolicyContent['promotion'] = {
  approvals_required: 1,
  prevent_self_approval: true,
  require_hosted_identity: false,
  max_step_percent: 25,
  cooldown_seconds: 86_400,
  plan_ttl_seconds: 604_800,
};

export class ObjectiveDto {
  @StringField({ enum: METRIC_NAMES })
  metric: Metric;

  @StringField({ enum: ['minimize', 'maximize'] })
  direction: 'minimize' | 'maximize';
}

export class SetPolicyDto {
  @StringField({
    enum: MODES,
    default: 'recommend',
    description:
      '`observe` only reports findings as events; `recommend` also proposes plans. The autopilot never executes a plan',
  })
  mode: PolicyContent['mode'];

  @ObjectField(() => WorkloadDto, { optional: true, description: 'Expected use of the deployment' })
  workload?: WorkloadDto;

  @ObjectField(() => ObjectiveDto, { optional: true, description: 'Metric to improve while every SLO is met' })
  objective?: ObjectiveDto;

  @ArrayField(() => SloDto, {
    maxItems: 16,
    default: [],
    description: 'Service level objectives that must be met; each metric and stat only once',
  })
  slos: SloDto[];

  @ObjectField(() => EvidenceDto, {
    default: DEFAULT_EVIDENCE,
    description: 'Evidence that is required before any conclusion',
  })
  evidence: EvidenceDto;

  @ObjectField(() => ExperimentBudgetDto, { default: DEFAULT_BUDGET, description: 'Limits of experiments' })
  experiment_budget: ExperimentBudgetDto;

  @ObjectField(() => ReliabilityDto, {
    default: { freeze_windows: [] },
    description: 'Reliability that experiments must not put at risk',
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
