import { ArrayField, BooleanField, IntField, StringField, type FieldIssue, NumberField } from '@slipway/platform-http';
import { METRIC_NAMES, metricOf, STATS, type Metric, type Stat } from '@slipway/contracts';

export const STRATEGY_TYPES = ['candidate', 'canary', 'blue_green', 'immediate', 'recreate', 'auto'] as const;
export type StrategyType = (typeof STRATEGY_TYPES)[number];

/** How long a request may wait at the gateways: clients of this family give up at 300 s without a head. */
export const HOLD_SECONDS = { min: 1, max: 290, default: 60 } as const;

export class StrategyStepDto {
  @IntField({ min: 1, max: 100, description: 'Share of the traffic the candidate gets at this step' })
  traffic_percent: number;

  @IntField({ min: 0, max: 604_800, default: 180 })
  soak_seconds: number;

  @BooleanField({ default: false, description: 'Waits for POST /operations/{id}/resume after this step' })
  requires_approval: boolean;
}

const NO_SHARES =
  'recreate never runs two revisions, so none gets a share: leave steps out, or give one of 100 percent for its soak_seconds; shares are what canary is for';
const NO_APPROVAL =
  'recreate asks nobody in between, because requests would wait or the previous revision is gone: have the rollout approved before, by protection.rollouts approved_plan';

/** How a rollout moves traffic: what a rollout asks for, and what a deployment keeps as its default. */
export class StrategyDto {
  @StringField({
    enum: STRATEGY_TYPES,
    description:
      '`candidate` proves the revision ready and moves no traffic. `recreate` stops the previous revision before it starts the next, for targets without room for both: requests wait meanwhile. `auto`: `canary` where there is room, else `recreate`',
  })
  type: StrategyType;

  @ArrayField(() => StrategyStepDto, {
    minItems: 1,
    maxItems: 32,
    optional: true,
    description:
      'canary and auto: 5, 25, 50, 100 where absent; blue_green and recreate: one step of 100. A recreate out of `auto` soaks as long as the last one',
  })
  steps?: StrategyStepDto[];

  @IntField({
    min: HOLD_SECONDS.min,
    max: HOLD_SECONDS.max,
    optional: true,
    description: `recreate and auto: the longest that a request waits before it answers 503; ${HOLD_SECONDS.default} where absent`,
  })
  hold_seconds?: number;

  static check(strategy: StrategyDto): FieldIssue[] {
    const { type, steps, hold_seconds } = strategy;
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
    if ((type === 'recreate' || type === 'auto') && steps.some((step) => step.requires_approval))
      return [{ field: 'steps', code: 'not_applicable', message: NO_APPROVAL }];
    if (type === 'candidate' || type === 'immediate')
      return [{ field: 'steps', code: 'not_applicable', message: `a strategy of type ${type} has no steps` }];
    if (type === 'blue_green' && (steps.length !== 1 || steps[0]?.traffic_percent !== 100)) {
      return [{ field: 'steps', code: 'invalid', message: 'blue_green has one step, of 100 percent' }];
    }
    const percents = steps.map((step) => step.traffic_percent);
    if (percents.some((percent, index) => index > 0 && percent <= (percents[index - 1] as number))) {
      return [{ field: 'steps', code: 'order', message: 'traffic_percent must rise from step to step' }];
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
