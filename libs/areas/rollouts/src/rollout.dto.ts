import {
  IntField,
  JsonField,
  NumberField,
  ObjectField,
  RehearsalDto,
  StringField,
  type FieldIssue,
} from '@slipway/platform-http';
import { AnalysisDto, STRATEGY_TYPES, StrategyDto, type StrategyType } from '@slipway/ports/deployment-records';
import { RevisionSpecDto } from '@slipway/ports/revisions';

export class RolloutDto {
  @ObjectField(() => RevisionSpecDto, { optional: true, description: 'The whole spec; or spec_patch' })
  spec?: RevisionSpecDto;

  @JsonField({
    optional: true,
    description: 'RFC 7386 merge patch on base_revision; or spec',
    example: { runtime: { args: { ttft_ms: 10 } } },
  })
  spec_patch?: Record<string, unknown>;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'What spec_patch applies to: id, number or name; the active revision where absent',
  })
  base_revision?: string;

  @ObjectField(() => StrategyDto, {
    optional: true,
    description: "The deployment's default_strategy where absent, else candidate",
  })
  strategy?: StrategyDto;

  @ObjectField(() => AnalysisDto, {
    optional: true,
    description: "The deployment's default_analysis where absent, else none; the operation's `result.gate` says which",
  })
  analysis?: AnalysisDto;

  @IntField({
    min: 1,
    max: 86_400,
    optional: true,
    description:
      'How long the instances may take to be ready. 600 where absent; longer where the template of the engine gives a start longer',
  })
  progress_deadline_seconds?: number;

  @IntField({
    min: 0,
    max: 2_592_000,
    optional: true,
    description:
      'How long the previous revision (or an unrouted candidate) stays warm; 3600 where absent. A recreate keeps nothing: it takes 0 only',
  })
  keep_previous_seconds?: number;

  @StringField({ min: 1, max: 255, optional: true, description: '412 unless this revision is the active one' })
  expected_active_revision?: string;

  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description:
      'Executes an approved plan; what this body leaves out comes from the plan, what it states must be what was approved',
  })
  plan_id?: string;

  @StringField({ max: 2000, optional: true })
  reason?: string;

  @StringField({ max: 255, optional: true, example: 'git:4f2a1c9' })
  change_ref?: string;

  static check(rollout: RolloutDto): FieldIssue[] {
    // A plan brings its own spec.
    if (rollout.plan_id && !rollout.spec && !rollout.spec_patch) return [];
    if ((rollout.spec === undefined) === (rollout.spec_patch === undefined)) {
      return [{ field: 'spec', code: 'exactly_one', message: 'give exactly one of spec and spec_patch' }];
    }
    if (rollout.spec && rollout.base_revision)
      return [{ field: 'base_revision', code: 'not_applicable', message: 'base_revision goes with spec_patch' }];
    return [];
  }
}

export class CapacityDto {
  @StringField()
  target: string;

  @IntField({ min: 0, description: 'Places or devices that the revision takes' })
  needed: number;

  @IntField({ min: 0, nullable: true, description: 'Null where the target does not tell, or has no limit' })
  free: number | null;

  @NumberField({
    min: 0,
    nullable: true,
    description:
      'For how long requests are expected to wait, by the last measured starts; 0 where none waits, null where none was measured',
  })
  gap_seconds: number | null;
}

/** Of a rollout or a rollback. */
export class RolloutRehearsalDto extends RehearsalDto {
  @StringField({ enum: STRATEGY_TYPES, optional: true, description: 'Of a rollout: what `auto` comes to now' })
  strategy?: StrategyType;

  @ObjectField(() => CapacityDto)
  capacity: CapacityDto;
}

export class RollbackDto {
  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description:
      'Id, number or name; where absent the last good revision that was fully active before. Out of a rollout: the one that was active when it began or, if that has no ready instance, the last good one before. `result.because` says which',
  })
  to_revision?: string;

  @StringField({
    enum: ['supersede', 'fail'],
    default: 'supersede',
    description: 'What becomes of a rollout that is running',
  })
  on_active_operation: 'supersede' | 'fail';

  @StringField({ max: 2000, optional: true })
  reason?: string;
}
