import { METRIC_NAMES, type Metric } from '@slipway/contracts';
import { ActorDto, ArrayField, IntField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';
import type { PolicyContent } from '@slipway/ports/policies';
import {
  EvidenceDto,
  ExperimentBudgetDto,
  PromotionDto,
  ReliabilityDto,
  SloDto,
  WorkloadDto,
} from './policy-sections.dto.js';
import { duplicateSlos } from './policy-rules.js';

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
      '`observe` only tells what it sees in events; `recommend` also proposes plans. Nothing ever acts by itself',
  })
  mode: PolicyContent['mode'];

  @ObjectField(() => WorkloadDto, { optional: true, description: 'What the deployment is used for' })
  workload?: WorkloadDto;

  @ObjectField(() => ObjectiveDto, { optional: true, description: 'What to improve while every SLO is met' })
  objective?: ObjectiveDto;

  @ArrayField(() => SloDto, { maxItems: 16, default: [], description: 'What must hold; each metric and stat once' })
  slos: SloDto[];

  @ObjectField(() => EvidenceDto, {
    default: DEFAULT_EVIDENCE,
    description: 'How much must have been seen before anything is concluded',
  })
  evidence: EvidenceDto;

  @ObjectField(() => ExperimentBudgetDto, { default: DEFAULT_BUDGET, description: 'How much may be tried' })
  experiment_budget: ExperimentBudgetDto;

  @ObjectField(() => ReliabilityDto, { default: { freeze_windows: [] }, description: 'What may never be put at risk' })
  reliability: ReliabilityDto;

  @ObjectField(() => PromotionDto, { default: DEFAULT_PROMOTION, description: 'How a plan becomes a rollout' })
  promotion: PromotionDto;

  static check(policy: SetPolicyDto) {
    return duplicateSlos(policy.slos);
  }
}

export class PolicyDto extends SetPolicyDto {
  @StringField({ description: 'Name of the deployment', example: 'chat' })
  deployment: string;

  @IntField({ min: 1, description: 'Rises by one at every change; every version is kept, plans cite one' })
  version: number;

  @StringField({ description: 'Also the ETag header' })
  etag: string;

  @ObjectField(() => ActorDto)
  updated_by: ActorDto;

  @TimestampField()
  updated_at: string;
}
