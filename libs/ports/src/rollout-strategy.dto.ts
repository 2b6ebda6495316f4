import { METRIC_NAMES, metricOf, STATS, type Metric, type Stat } from '@slipway/contracts';
import {
  ArrayField,
  BooleanField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  type FieldIssue,
} from '@slipway/platform-http';

/* How a rollout moves traffic, and what judges it. */

export const STRATEGY_TYPES = ['candidate', 'canary', 'blue_green', 'immediate', 'recreate', 'auto'] as const;
export type StrategyType = (typeof STRATEGY_TYPES)[number];

/** How long a request may wait at the gateways: clients of this family give up after 300 s without response headers. */
export const HOLD_SECONDS = { min: 1, max: 290, default: 60 } as const;

export class StrategyStepDto {
  @IntField({ min: 1, max: 100, description: 'Share of the traffic that the candidate gets at this step, in percent' })
  traffic_percent: number;

  @IntField({ min: 0, max: 604_800, default: 180 })
  soak_seconds: number;

  @BooleanField({
    default: false,
    description:
      'Whether the rollout waits after this step until a person other than the one who began it approves (POST /operations/{id}/promote). The policy of the deployment decides who may (`prevent_self_approval`)',
  })
  requires_approval: boolean;

  @BooleanField({
    default: false,
    description:
      'Whether the rollout waits after this step until any operator continues it (POST /operations/{id}/resume)',
  })
  pause: boolean;
}

/** A watch of thresholds after the promotion. */
export class BakeDto {
  @IntField({
    min: 1,
    max: 604_800,
    description:
      'Seconds after the promotion. `keep_previous_seconds` must be at least this, so that a rollback is immediate',
  })
  seconds: number;

  @ArrayField(() => AnalysisMetricDto, {
    minItems: 1,
    maxItems: 16,
    description: 'Only checks of type `threshold`: no other revision has traffic to compare with',
  })
  metrics: AnalysisMetricDto[];

  static check({ metrics }: BakeDto): FieldIssue[] {
    const message = 'a bake compares with no other revision, so each of its checks must be a threshold';
    const tolerated = 'a bake has one gate, so it tolerates no breach';
    return metrics.flatMap(({ check, failure_limit }, index) => [
      ...(check === 'threshold' ? [] : [{ field: `metrics[${index}].check`, code: 'not_applicable', message }]),
      ...(failure_limit === 0
        ? []
        : [{ field: `metrics[${index}].failure_limit`, code: 'not_applicable', message: tolerated }]),
    ]);
  }
}

const NO_SHARES =
  'recreate never runs two revisions, so it cannot split traffic: omit steps, or specify one step of 100 percent for its soak_seconds; use canary to split traffic';
const NO_APPROVAL =
  'recreate cannot pause for an approval, because requests would wait or the previous revision has stopped: require approval before the rollout, with protection.rollouts approved_plan';

/** How a rollout moves traffic: part of a rollout request, and the default that a deployment keeps. */
export class StrategyDto {
  @StringField({
    enum: STRATEGY_TYPES,
    description:
      '`candidate` proves that the revision is ready and moves no traffic. `recreate` stops the previous revision before it starts the next one, for targets without capacity for both; requests wait in the meantime. `auto`: `canary` if there is capacity for both, else `recreate`',
  })
  type: StrategyType;

  @ArrayField(() => StrategyStepDto, {
    minItems: 1,
    maxItems: 32,
    optional: true,
    description:
      'Default for canary and auto: 5, 25, 50, 100; for blue_green and recreate: one step of 100. If `auto` chooses recreate, it soaks as long as the last step',
  })
  steps?: StrategyStepDto[];

  @IntField({
    min: HOLD_SECONDS.min,
    max: HOLD_SECONDS.max,
    optional: true,
    description: `recreate and auto: maximum seconds that a request waits before it fails with 503; default ${HOLD_SECONDS.default}`,
  })
  hold_seconds?: number;

  @ObjectField(() => BakeDto, {
    optional: true,
    description:
      'Watches thresholds after the promotion and rolls back after a breach. Any other change of the traffic ends it. Only for canary, blue_green and immediate',
  })
  bake?: BakeDto;

  static check(strategy: StrategyDto): FieldIssue[] {
    const { type, steps, hold_seconds, bake } = strategy;
    if (bake && (type === 'candidate' || type === 'recreate' || type === 'auto'))
      return [
        {
          field: 'bake',
          code: 'not_applicable',
          message: `a bake rolls back to the previous revision, which a strategy of type ${type} may stop or never replaces`,
        },
      ];
    if (hold_seconds !== undefined && type !== 'recreate' && type !== 'auto')
      return [
        {
          field: 'hold_seconds',
          code: 'not_applicable',
          message: `a strategy of type ${type} holds no requests; only recreate and auto do`,
        },
      ];
    if (!steps) return [];
    if (type === 'recreate' && (steps.length !== 1 || steps[0]?.traffic_percent !== 100))
      return [{ field: 'steps', code: 'not_applicable', message: NO_SHARES }];
    if ((type === 'recreate' || type === 'auto') && steps.some((step) => step.requires_approval || step.pause))
      return [{ field: 'steps', code: 'not_applicable', message: NO_APPROVAL }];
    if (type === 'candidate' || type === 'immediate')
      return [{ field: 'steps', code: 'not_applicable', message: `a strategy of type ${type} has no steps` }];
    if (type === 'blue_green' && (steps.length !== 1 || steps[0]?.traffic_percent !== 100)) {
      return [{ field: 'steps', code: 'invalid', message: 'blue_green must have exactly one step, of 100 percent' }];
    }
    const percents = steps.map((step) => step.traffic_percent);
    if (percents.some((percent, index) => index > 0 && percent <= (percents[index - 1] as number))) {
      return [{ field: 'steps', code: 'order', message: 'traffic_percent must increase from step to step' }];
    }
    if (percents[percents.length - 1] !== 100)
      return [{ field: 'steps', code: 'order', message: 'the last step must be 100 percent' }];
    return [];
  }
}

export class AnalysisMetricDto {
  @StringField({ enum: METRIC_NAMES })
  name: Metric;

  @StringField({
    enum: STATS,
    optional: true,
    description: 'Default: the default of the metric, which is p95 for values and rate for counts',
  })
  stat?: Stat;

  @StringField({ enum: ['threshold', 'regression'] })
  check: 'threshold' | 'regression';

  @StringField({
    enum: ['lte', 'gte'],
    optional: true,
    description: 'Default: lte for metrics that are better when lower, else gte',
  })
  operator?: 'lte' | 'gte';

  @NumberField({ min: 0, optional: true })
  threshold?: number;

  @NumberField({ min: 0, max: 10_000, optional: true })
  max_regression_percent?: number;

  @IntField({ min: 1, max: 1_000_000, default: 50 })
  min_samples: number;

  @IntField({
    min: 1,
    max: 604_800,
    optional: true,
    description: 'Seconds of samples that the check uses; default: the soak',
  })
  window_seconds?: number;

  @IntField({
    min: 0,
    max: 100,
    default: 0,
    description: 'Number of breaches of this check that the rollout tolerates',
  })
  failure_limit: number;

  @BooleanField({ default: false, description: 'Whether the check is only reported and never blocks' })
  dry_run: boolean;

  static check(metric: AnalysisMetricDto): FieldIssue[] {
    const issues: FieldIssue[] = [];
    if (metric.check === 'threshold' && metric.threshold === undefined)
      issues.push({ field: 'threshold', code: 'required', message: 'a threshold check requires threshold' });
    if (metric.check === 'regression' && metric.max_regression_percent === undefined) {
      issues.push({
        field: 'max_regression_percent',
        code: 'required',
        message: 'a regression check requires max_regression_percent',
      });
    }
    const { stats } = metricOf(metric.name);
    if (metric.stat !== undefined && !stats.includes(metric.stat)) {
      issues.push({
        field: 'stat',
        code: 'not_applicable',
        message: `${metric.name} supports only the stats ${stats.join(', ')}`,
      });
    }
    return issues;
  }
}

/**
 * The gate that a rollout has to pass after each soak: part of a rollout request, and the default that a deployment
 * keeps.
 */
export class AnalysisDto {
  @StringField({
    enum: ['none'],
    optional: true,
    description:
      '`none`: nothing judges the rollout, not even the guards. `metrics` is then ignored and may be absent.',
  })
  mode?: 'none';

  @ArrayField(() => AnalysisMetricDto, {
    minItems: 1,
    maxItems: 16,
    optional: true,
    description: 'Required unless `mode` is `none`. Guards judge the outcomes that no metric names.',
  })
  metrics?: AnalysisMetricDto[];

  @StringField({ enum: ['rollback', 'pause'], default: 'rollback' })
  on_failure: 'rollback' | 'pause';

  @StringField({ enum: ['pause', 'rollback'], default: 'pause' })
  on_inconclusive: 'pause' | 'rollback';

  static check({ mode, metrics }: AnalysisDto): FieldIssue[] {
    if (mode === 'none' || metrics) return [];
    return [{ field: 'metrics', code: 'required', message: 'is required unless mode is none' }];
  }
}
