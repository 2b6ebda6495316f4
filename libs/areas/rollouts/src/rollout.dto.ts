import { METRIC_NAMES, metricOf, STATS, type Metric, type Stat } from '@slipway/contracts';
import {
  ArrayField,
  BooleanField,
  IntField,
  JsonField,
  NumberField,
  ObjectField,
  StringField,
  type FieldIssue,
} from '@slipway/platform-http';
import { StrategyDto } from '@slipway/ports/deployment-records';
import { RevisionSpecDto } from '@slipway/ports/revisions';

export class AnalysisMetricDto {
  @StringField({ enum: METRIC_NAMES })
  name: Metric;

  @StringField({
    enum: STATS,
    optional: true,
    description: 'The default of the metric where absent: p95 of values, rate of counts',
  })
  stat?: Stat;

  @StringField({ enum: ['threshold', 'regression'] })
  check: 'threshold' | 'regression';

  @StringField({
    enum: ['lte', 'gte'],
    optional: true,
    description: 'Where absent, lte for metrics that are better when lower, else gte',
  })
  operator?: 'lte' | 'gte';

  @NumberField({ min: 0, optional: true })
  threshold?: number;

  @NumberField({ min: 0, max: 10_000, optional: true })
  max_regression_percent?: number;

  @IntField({ min: 1, max: 1_000_000, default: 50 })
  min_samples: number;

  @IntField({ min: 1, max: 604_800, optional: true, description: 'The soak where absent' })
  window_seconds?: number;

  @IntField({ min: 0, max: 100, default: 0, description: 'Breaches in a row that are forgiven' })
  failure_limit: number;

  @BooleanField({ default: false, description: 'Reported, never blocks' })
  dry_run: boolean;

  static check(metric: AnalysisMetricDto): FieldIssue[] {
    const issues: FieldIssue[] = [];
    if (metric.check === 'threshold' && metric.threshold === undefined)
      issues.push({ field: 'threshold', code: 'required', message: 'a threshold check needs threshold' });
    if (metric.check === 'regression' && metric.max_regression_percent === undefined) {
      issues.push({
        field: 'max_regression_percent',
        code: 'required',
        message: 'a regression check needs max_regression_percent',
      });
    }
    const { stats } = metricOf(metric.name);
    if (metric.stat !== undefined && !stats.includes(metric.stat)) {
      issues.push({
        field: 'stat',
        code: 'not_applicable',
        message: `${metric.name} has the stats ${stats.join(', ')}`,
      });
    }
    return issues;
  }
}

export class AnalysisDto {
  @ArrayField(() => AnalysisMetricDto, { minItems: 1, maxItems: 16 })
  metrics: AnalysisMetricDto[];

  @StringField({ enum: ['rollback', 'pause'], default: 'rollback' })
  on_failure: 'rollback' | 'pause';

  @StringField({ enum: ['pause', 'rollback'], default: 'pause' })
  on_inconclusive: 'pause' | 'rollback';
}

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

  @ObjectField(() => AnalysisDto, { optional: true })
  analysis?: AnalysisDto;

  @IntField({ min: 1, max: 86_400, default: 600 })
  progress_deadline_seconds: number;

  @IntField({
    min: 0,
    max: 2_592_000,
    default: 3600,
    description: 'How long the previous revision (or an unrouted candidate) stays warm',
  })
  keep_previous_seconds: number;

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

export class RollbackDto {
  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Id, number or name; where absent the revision that was fully active before',
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
