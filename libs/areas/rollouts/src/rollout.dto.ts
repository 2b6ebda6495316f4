import {
  IntField,
  JsonField,
  NumberField,
  ObjectField,
  RehearsalDto,
  StringField,
  type FieldIssue,
} from '@slipway/platform-http';
import {
  AnalysisDto,
  HOLD_SECONDS,
  STRATEGY_TYPES,
  StrategyDto,
  type StrategyType,
} from '@slipway/ports/deployment-records';
import { RevisionSpecDto } from '@slipway/ports/revisions';

export class RolloutDto {
  @ObjectField(() => RevisionSpecDto, {
    optional: true,
    description: 'Complete spec. Send either this or `spec_patch`.',
  })
  spec?: RevisionSpecDto;

  @JsonField({
    optional: true,
    description: 'JSON merge patch (RFC 7386) on `base_revision`. Send either this or `spec`.',
    example: { runtime: { args: { ttft_ms: 10 } } },
  })
  spec_patch?: Record<string, unknown>;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Id, number or name of the revision that `spec_patch` applies to. Default: the active revision',
  })
  base_revision?: string;

  @ObjectField(() => StrategyDto, {
    optional: true,
    description: 'Default: the `default_strategy` of the deployment, else `candidate`',
  })
  strategy?: StrategyDto;

  @ObjectField(() => AnalysisDto, {
    optional: true,
    short: { none: { mode: 'none' } },
    description:
      'Default: the `default_analysis` of the deployment, else guards only. The text `none` is short for `{"mode": "none"}`. `result.gate` of the operation shows which one applies.',
  })
  analysis?: AnalysisDto;

  @IntField({
    min: 1,
    max: 86_400,
    optional: true,
    description:
      'Seconds within which the instances must be ready. Default: 600, or more if the template of the engine allows more time for a start',
  })
  progress_deadline_seconds?: number;

  @IntField({
    min: 0,
    max: 2_592_000,
    optional: true,
    description:
      'Seconds that the previous revision (or an unrouted candidate) stays warm. Default: 3600. Strategy `recreate` accepts only 0, because it keeps nothing.',
  })
  keep_previous_seconds?: number;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'The request fails with 412 unless this revision is active.',
  })
  expected_active_revision?: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description:
      'Approved plan that the rollout executes. Omitted fields come from the plan; other fields must match what was approved.',
  })
  plan_id?: string;

  @StringField({ max: 2000, optional: true })
  reason?: string;

  @StringField({ max: 255, optional: true, example: 'git:4f2a1c9' })
  change_ref?: string;

  static check(rollout: RolloutDto): FieldIssue[] {
    // A plan contains its own spec.
    if (rollout.plan_id && !rollout.spec && !rollout.spec_patch) return [];
    if ((rollout.spec === undefined) === (rollout.spec_patch === undefined)) {
      return [{ field: 'spec', code: 'exactly_one', message: 'send exactly one of spec and spec_patch' }];
    }
    if (rollout.spec && rollout.base_revision)
      return [
        { field: 'base_revision', code: 'not_applicable', message: 'base_revision is only allowed with spec_patch' },
      ];
    return [];
  }
}

export class CapacityDto {
  @StringField()
  target: string;

  @IntField({ min: 0, description: 'Number of instances or devices that the revision needs on the target' })
  needed: number;

  @IntField({ min: 0, nullable: true, description: 'Null if the target does not report it or has no limit' })
  free: number | null;

  @NumberField({
    min: 0,
    nullable: true,
    description:
      'Seconds that requests are expected to wait, estimated from the last measured starts. 0 if no request waits; null if no start was measured',
  })
  gap_seconds: number | null;
}

/** For a rollout or a rollback. */
export class RolloutRehearsalDto extends RehearsalDto {
  @StringField({
    enum: STRATEGY_TYPES,
    optional: true,
    description: 'Strategy of the rollout, with `auto` resolved; absent for a rollback',
  })
  strategy?: StrategyType;

  @StringField({
    optional: true,
    description: 'Name of the revision that a rollback would give all traffic; absent for a rollout',
  })
  revision?: string;

  @IntField({
    min: 0,
    optional: true,
    description:
      'Ready instances of that revision. If there are none, the rollback starts them before it moves traffic; absent for a rollout',
  })
  ready_instances?: number;

  @ObjectField(() => CapacityDto)
  capacity: CapacityDto;
}

export class RollbackDto {
  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description:
      'Id, number or name. Default: the last good revision that was fully active before. During a rollout: the revision that was active when it began or, if that one has no ready instance, the last good revision before it. `result.because` shows the reason.',
  })
  to_revision?: string;

  @StringField({
    enum: ['supersede', 'fail'],
    default: 'supersede',
    description: 'Whether to supersede a running rollout or to fail the request',
  })
  on_active_operation: 'supersede' | 'fail';

  @StringField({ max: 2000, optional: true })
  reason?: string;
}

export class RestartDto {
  @StringField({ max: 2000, optional: true })
  reason?: string;

  @IntField({
    min: 1,
    max: 86_400,
    optional: true,
    description:
      'Seconds within which each instance must be ready. Default: 600, or more if the template of the engine allows more time for a start',
  })
  progress_deadline_seconds?: number;

  @IntField({
    min: HOLD_SECONDS.min,
    max: HOLD_SECONDS.max,
    optional: true,
    description: `Maximum seconds that a request waits before it fails with 503, if a revision has one instance and no capacity for another. Default: ${HOLD_SECONDS.default}`,
  })
  hold_seconds?: number;
}
