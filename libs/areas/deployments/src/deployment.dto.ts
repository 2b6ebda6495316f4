import { ArrayField, BooleanField, IntField, MapField, ObjectField, StringField, TimestampField, type FieldIssue } from '@slipway/platform-http';
import type { DeploymentState } from '@slipway/ports';
import type { Condition } from './conditions.js';

const STATES = ['creating', 'active', 'progressing', 'paused', 'degraded', 'failed', 'deleting'] as const;
const STRATEGY_TYPES = ['candidate', 'canary', 'blue_green', 'immediate'] as const;

export class DefaultStrategyStepDto {
  @IntField({ min: 1, max: 100, description: 'Share of the traffic the candidate gets at this step' })
  traffic_percent: number;

  @IntField({ min: 0, max: 604_800, default: 180 })
  soak_seconds: number;

  @BooleanField({ default: false, description: 'Waits for POST /operations/{id}/resume after this step' })
  requires_approval: boolean;
}

export class DefaultStrategyDto {
  @StringField({ enum: STRATEGY_TYPES, description: '`candidate` proves a revision ready and moves no traffic' })
  type: (typeof STRATEGY_TYPES)[number];

  @ArrayField(() => DefaultStrategyStepDto, { minItems: 1, maxItems: 32, optional: true, description: 'canary: 5, 25, 50, 100 where absent; blue_green: one step of 100' })
  steps?: DefaultStrategyStepDto[];

  static check(strategy: DefaultStrategyDto): FieldIssue[] {
    return strategyIssues(strategy);
  }
}

/** The rules of a strategy: only traffic moves in steps, each step gives more, the last gives all. */
export function strategyIssues({ type, steps }: Pick<DefaultStrategyDto, 'type' | 'steps'>): FieldIssue[] {
  if (!steps) return [];
  if (type === 'candidate' || type === 'immediate') return [{ field: 'steps', code: 'not_applicable', message: `a strategy of type ${type} has no steps` }];
  const percents = steps.map((step) => step.traffic_percent);
  if (type === 'blue_green' && percents.join() !== '100') return [{ field: 'steps', code: 'invalid', message: 'blue_green has one step, of 100 percent' }];
  if (percents.some((percent, index) => index > 0 && percent <= (percents[index - 1] as number))) {
    return [{ field: 'steps', code: 'order', message: 'traffic_percent must rise from step to step' }];
  }
  if (percents[percents.length - 1] !== 100) return [{ field: 'steps', code: 'order', message: 'the last step must be 100 percent' }];
  return [];
}

export class CreateDeploymentDto {
  @StringField({ min: 1, max: 63, pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, description: 'What clients send as model; unique among the tenant\'s deployments', example: 'chat' })
  name: string;

  @StringField({ min: 1, max: 255, optional: true })
  display_name?: string;

  @StringField({ max: 2000, optional: true })
  description?: string;

  @MapField({ values: 'string', maxEntries: 64, maxKeyLength: 63, maxValueLength: 255, default: {}, example: { team: 'search' } })
  labels: Record<string, string>;

  @StringField({ min: 1, max: 63, optional: true, example: 'production' })
  environment?: string;

  @ObjectField(() => DefaultStrategyDto, { optional: true, description: 'Strategy of a rollout that names none' })
  default_strategy?: DefaultStrategyDto;

  @IntField({ min: 1, max: 1000, default: 10, description: 'Revisions kept that no route, binding or rollback refers to' })
  revision_history_limit: number;
}

export class DeploymentFilterDto {
  @StringField({ min: 1, max: 63, optional: true })
  environment?: string;

  @StringField({ max: 1024, pattern: /^[^=,]+(=[^,]*)?(,[^=,]+(=[^,]*)?)*$/, optional: true, description: '`key=value` or `key`; several, separated by commas, must all hold', example: 'team=search' })
  label?: string;
}

export class ConditionDto {
  @StringField({ enum: ['Ready', 'Progressing', 'Degraded'] })
  type: string;

  @StringField({ enum: ['True', 'False'] })
  status: string;

  @StringField({ description: 'One word for programs', example: 'Serving' })
  reason: string;

  @StringField({ description: 'One sentence for people' })
  message: string;

  @TimestampField({ description: 'When the status last changed' })
  last_transition_at: string;
}

export class DeploymentRouteTargetDto {
  @StringField({ example: 'chat-00002' })
  revision: string;

  @IntField({ min: 0, max: 100 })
  weight: number;
}

export class DeploymentRouteAffinityDto {
  @StringField({ enum: ['none', 'soft'] })
  mode: string;

  @IntField({ min: 1, max: 86_400 })
  ttl_seconds: number;
}

export class DeploymentRouteDto {
  @IntField({ min: 1 })
  generation: number;

  @ArrayField(() => DeploymentRouteTargetDto)
  targets: DeploymentRouteTargetDto[];

  @ObjectField(() => DeploymentRouteAffinityDto)
  affinity: DeploymentRouteAffinityDto;
}

export class DeploymentActorDto {
  @StringField({ example: 'token' })
  type: string;

  @StringField()
  id: string;
}

export class DeploymentDto {
  @StringField({ example: 'dep_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;

  @StringField({ example: 'chat' })
  name: string;

  @StringField({ nullable: true })
  display_name: string | null;

  @StringField({ nullable: true })
  description: string | null;

  @MapField({ values: 'string' })
  labels: Record<string, string>;

  @StringField({ nullable: true })
  environment: string | null;

  @ObjectField(() => DefaultStrategyDto, { nullable: true })
  default_strategy: Record<string, unknown> | null;

  @IntField()
  revision_history_limit: number;

  @StringField({ enum: STATES })
  state: DeploymentState;

  @ArrayField(() => ConditionDto)
  conditions: Condition[];

  @StringField({ nullable: true, description: 'Name of the revision that last held 100 % of the traffic', example: 'chat-00002' })
  active_revision: string | null;

  @StringField({ nullable: true, description: 'Name of the revision a rollout has built or is building' })
  candidate_revision: string | null;

  @StringField({ nullable: true, description: 'Name of the revision a rollback goes to by default' })
  previous_revision: string | null;

  @ObjectField(() => DeploymentRouteDto, { nullable: true })
  route: DeploymentRouteDto | null;

  @StringField({ nullable: true })
  current_operation_id: string | null;

  @StringField({ description: 'Also the ETag header; changes with what people and operations change, not with health' })
  etag: string;

  @ObjectField(() => DeploymentActorDto)
  created_by: DeploymentActorDto;

  @TimestampField()
  created_at: string;

  @TimestampField()
  updated_at: string;
}

export class DeploymentPageDto {
  @ArrayField(() => DeploymentDto)
  data: DeploymentDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
