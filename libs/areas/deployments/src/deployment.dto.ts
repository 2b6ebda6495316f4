import { DEPLOYMENT_STATES, WAITING_FOR, type DeploymentState, type WaitingFor } from '@slipway/contracts';
import {
  ActorDto,
  ArrayField,
  IntField,
  MapField,
  MoneyDto,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import { AnalysisDto, MediaUrlsDto, StrategyDto, type Condition } from '@slipway/ports/deployment-records';
import { ScalingOverrideDto } from '@slipway/ports/revisions';
import { DeploymentSettingsDto, ProtectionDto } from './deployment-settings.dto.js';

export class CreateDeploymentDto extends DeploymentSettingsDto {
  @StringField({
    min: 1,
    max: 63,
    pattern: /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/,
    description: 'Name that clients send as `model`; unique within the tenant',
    example: 'chat',
  })
  name: string;
}

export class DeploymentFilterDto {
  @StringField({ enum: DEPLOYMENT_STATES, optional: true, description: 'State that the deployments must have' })
  state?: DeploymentState;

  @StringField({
    min: 1,
    max: 200,
    optional: true,
    description: 'Text in the name, the display name, the description or the environment, in upper or lower case',
  })
  q?: string;

  @StringField({ min: 1, max: 63, optional: true, description: 'Environment that the deployments must have' })
  environment?: string;

  @StringField({
    max: 1024,
    // Other conditions of selectors would otherwise be names and values that no deployment has.
    pattern: /^[^=,!()]+(=([^=,][^,]*)?)?(,[^=,!()]+(=([^=,][^,]*)?)?)*$/,
    patternMessage: 'must be key=value or key; conditions such as !=, ==, in and notin are not supported',
    optional: true,
    description:
      'Label that the deployments must have: `key=value` or `key`, such as `team=search`. Separate several with commas; all must match.',
  })
  label?: string;
}

export class ConditionDto {
  @StringField({ enum: ['Ready', 'Progressing', 'Degraded'] })
  type: string;

  @StringField({ enum: ['True', 'False'] })
  status: string;

  @StringField({ description: 'Machine-readable reason in one word', example: 'Serving' })
  reason: string;

  @StringField({ description: 'Explanation in one sentence' })
  message: string;

  @TimestampField({ description: 'Time at which `status` last changed' })
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

  @IntField({ nullable: true, description: 'Null if the number of instances does not follow the load' })
  target_in_flight: number | null;

  @IntField()
  scale_down_after_seconds: number;

  @IntField({ nullable: true, description: 'Null if the deployment never scales to zero' })
  idle_seconds: number | null;
}

export class ReplicasDto {
  @IntField({
    min: 0,
    description: 'Instances that the revisions with traffic should have; 0 while they are scaled to zero',
  })
  desired: number;

  @IntField({ min: 0, description: 'Number of these instances that are ready' })
  ready: number;
}

export class FailedStartDto {
  @StringField({ example: 'chat-00007' })
  revision: string;

  @StringField({ example: 'ins_1' })
  instance_id: string;

  @TimestampField()
  at: string;

  @StringField({ description: 'Cause, from a closed list', example: 'gpu_memory' })
  cause: string;

  @StringField({ example: 'it ended with code 1: CUDA out of memory' })
  message: string;

  @StringField({ description: 'Next step to fix the failure' })
  remediation: string;

  @IntField({ nullable: true })
  exit_code: number | null;

  @StringField({ nullable: true, example: 'SIGKILL' })
  signal: string | null;

  @ArrayField('string', { description: 'Last lines of its output, oldest first, without secrets' })
  log_tail: string[];
}

export class RevisionDrainDto {
  @StringField({ example: 'chat-00001' })
  revision: string;

  @IntField({ min: 1, description: 'Requests in flight that its instances wait for' })
  requests: number;

  @TimestampField({ description: 'Time at which the instances stop, whatever requests are in flight' })
  until: string;
}

export class DrainingDto {
  @IntField({ min: 1, description: 'Requests in flight that instances without traffic wait for' })
  requests: number;

  @ArrayField(() => RevisionDrainDto)
  revisions: RevisionDrainDto[];
}

export class DeploymentCostDto {
  @ObjectField(() => MoneyDto, {
    nullable: true,
    description:
      "Price of these devices for an hour, by the operator's prices; null if there is none for the accelerator",
  })
  per_hour: MoneyDto | null;

  @IntField({
    min: 0,
    description:
      'Devices of the ready and starting instances of the active revision. An instance that shares a device counts as a whole one',
  })
  devices: number;

  @StringField({
    nullable: true,
    description: 'Name of the accelerator, as in `resources.accelerator`; null if the revision names none',
    example: 'nvidia-l4',
  })
  accelerator: string | null;
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

  @ObjectField(() => ScalingOverrideDto, { nullable: true, description: 'Overrides of the `scaling` of its revisions' })
  scaling: object | null;

  @ObjectField(() => EffectiveScalingDto, {
    nullable: true,
    description: '`scaling` of the active revision with the overrides of the deployment applied',
  })
  effective_scaling: EffectiveScalingDto | null;

  @IntField({ description: 'Seconds that an instance without traffic waits for its requests in flight' })
  drain_seconds: number;

  @ObjectField(() => MediaUrlsDto, { description: 'Which URLs of media its inference requests may name' })
  media_urls: MediaUrlsDto;

  @ObjectField(() => DrainingDto, {
    nullable: true,
    description: 'Requests that instances wait for before they stop; null if there are none',
  })
  draining: DrainingDto | null;

  @ObjectField(() => ReplicasDto)
  replicas: ReplicasDto;

  @ObjectField(() => DeploymentCostDto, {
    nullable: true,
    description:
      'Devices of the active revision now, and their price. An estimate: it does not count other revisions or instances that stop. Null without an active revision, and if its instances take no device',
  })
  cost: DeploymentCostDto | null;

  @ObjectField(() => FailedStartDto, {
    nullable: true,
    description:
      'The last start of an instance that failed. Null once a later start of that revision is ready, or a later rollout or rollback has succeeded',
  })
  last_failed_start: FailedStartDto | null;

  @StringField({ enum: DEPLOYMENT_STATES })
  state: DeploymentState;

  @ArrayField(() => ConditionDto)
  conditions: Condition[];

  @StringField({
    nullable: true,
    description: 'Name of the revision that last received 100 % of the traffic',
    example: 'chat-00002',
  })
  active_revision: string | null;

  @StringField({ nullable: true, description: 'Name of the revision that a rollout has built or is building' })
  candidate_revision: string | null;

  @StringField({ nullable: true, description: 'Name of the revision that a rollback returns to by default' })
  previous_revision: string | null;

  @ObjectField(() => DeploymentRouteDto, { nullable: true })
  route: DeploymentRouteDto | null;

  @StringField({ nullable: true })
  current_operation_id: string | null;

  @StringField({
    enum: WAITING_FOR,
    nullable: true,
    description:
      'Reason why the current operation waits, as in its record. `approval`, `decision` and `resume` need a person. Null if it does not wait',
  })
  waiting_for: WaitingFor | null;

  @StringField({
    description:
      'Value of the ETag header. It changes when a user or an operation changes the deployment, not with its health.',
  })
  etag: string;

  @ObjectField(() => ActorDto)
  created_by: ActorDto;

  @ObjectField(() => ActorDto, {
    description: 'Actor that last changed the settings. Changes by operations do not count.',
  })
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
