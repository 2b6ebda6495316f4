import { ArrayField, BooleanField, IntField, StringField, type FieldIssue } from '@slipway/platform-http';

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
