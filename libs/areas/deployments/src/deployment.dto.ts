import { DEPLOYMENT_STATES, type DeploymentState } from '@slipway/contracts';
import {
  ActorDto,
  ArrayField,
  IntField,
  MapField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import { AnalysisDto, StrategyDto, type Condition } from '@slipway/ports/deployment-records';
import { ScalingOverrideDto } from '@slipway/ports/revisions';
import { DeploymentSettingsDto, ProtectionDto } from './deployment-settings.dto.js';

export class CreateDeploymentDto extends DeploymentSettingsDto {
  @StringField({
    min: 1,
    max: 63,
    pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    description: "What clients send as model; unique among the tenant's deployments",
    example: 'chat',
  })
  name: string;
}

export class DeploymentFilterDto {
  @StringField({ min: 1, max: 63, optional: true, description: 'Only those whose environment is this' })
  environment?: string;

  @StringField({
    max: 1024,
    pattern: /^[^=,]+(=[^,]*)?(,[^=,]+(=[^,]*)?)*$/,
    optional: true,
    description: '`key=value` or `key`, such as `team=search`; several, separated by commas, must all hold',
  })
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

export class EffectiveScalingDto {
  @IntField({ min: 0 })
  min_replicas: number;

  @IntField({ min: 1 })
  max_replicas: number;

  @IntField({ nullable: true, description: 'Null: the number follows no load' })
  target_in_flight: number | null;

  @IntField()
  scale_down_after_seconds: number;

  @IntField({ nullable: true, description: 'Null: it never sleeps' })
  idle_seconds: number | null;
}

export class ReplicasDto {
  @IntField({ min: 0, description: 'Instances that the revisions with traffic should have; 0 while they sleep' })
  desired: number;

  @IntField({ min: 0, description: 'Of them, those that answer' })
  ready: number;
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

  @ObjectField(() => StrategyDto, { nullable: true })
  default_strategy: object | null;

  @ObjectField(() => AnalysisDto, { nullable: true })
  default_analysis: object | null;

  @IntField()
  revision_history_limit: number;

  @ObjectField(() => ProtectionDto)
  protection: ProtectionDto;

  @ObjectField(() => ScalingOverrideDto, { nullable: true, description: 'What it overrides of its revisions' })
  scaling: object | null;

  @ObjectField(() => EffectiveScalingDto, {
    nullable: true,
    description: 'What holds for its active revision: that one’s `scaling` under the deployment’s',
  })
  effective_scaling: EffectiveScalingDto | null;

  @ObjectField(() => ReplicasDto)
  replicas: ReplicasDto;

  @StringField({ enum: DEPLOYMENT_STATES })
  state: DeploymentState;

  @ArrayField(() => ConditionDto)
  conditions: Condition[];

  @StringField({
    nullable: true,
    description: 'Name of the revision that last held 100 % of the traffic',
    example: 'chat-00002',
  })
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

  @ObjectField(() => ActorDto)
  created_by: ActorDto;

  @ObjectField(() => ActorDto, { description: 'Who last changed its settings; what operations do does not count' })
  updated_by: ActorDto;

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
