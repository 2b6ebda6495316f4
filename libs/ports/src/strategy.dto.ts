import { ArrayField, BooleanField, IntField, StringField, type FieldIssue } from '@slipway/platform-http';

export const STRATEGY_TYPES = ['candidate', 'canary', 'blue_green', 'immediate'] as const;
export type StrategyType = (typeof STRATEGY_TYPES)[number];

export class StrategyStepDto {
  @IntField({ min: 1, max: 100, description: 'Share of the traffic the candidate gets at this step' })
  traffic_percent: number;

  @IntField({ min: 0, max: 604_800, default: 180 })
  soak_seconds: number;

  @BooleanField({ default: false, description: 'Waits for POST /operations/{id}/resume after this step' })
  requires_approval: boolean;
}

/** How a rollout moves traffic: what a rollout asks for, and what a deployment keeps as its default. */
export class StrategyDto {
  @StringField({ enum: STRATEGY_TYPES, description: '`candidate` proves the revision ready and moves no traffic' })
  type: StrategyType;

  @ArrayField(() => StrategyStepDto, {
    minItems: 1,
    maxItems: 32,
    optional: true,
    description: 'canary: 5, 25, 50, 100 where absent; blue_green: one step of 100',
  })
  steps?: StrategyStepDto[];

  static check(strategy: StrategyDto): FieldIssue[] {
    const { type, steps } = strategy;
    if (!steps) return [];
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
