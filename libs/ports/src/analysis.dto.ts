import { METRIC_NAMES, metricOf, STATS, type Metric, type Stat } from '@slipway/contracts';
import { ArrayField, BooleanField, IntField, NumberField, StringField, type FieldIssue } from '@slipway/platform-http';

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

/** The gate that a rollout has to pass after each soak: what a rollout asks for, and what a deployment keeps as its default. */
export class AnalysisDto {
  @ArrayField(() => AnalysisMetricDto, { minItems: 1, maxItems: 16 })
  metrics: AnalysisMetricDto[];

  @StringField({ enum: ['rollback', 'pause'], default: 'rollback' })
  on_failure: 'rollback' | 'pause';

  @StringField({ enum: ['pause', 'rollback'], default: 'pause' })
  on_inconclusive: 'pause' | 'rollback';
}
