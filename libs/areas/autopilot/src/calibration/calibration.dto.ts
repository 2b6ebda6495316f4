import {
  ArrayField,
  BooleanField,
  IntField,
  NumberField,
  ObjectField,
  StringField,
  TimestampField,
} from '@slipway/platform-http';
import {
  AchievedValueDto,
  OUTCOME_PHASES,
  type OutcomePhase,
  PLAN_KINDS,
  type PlanKind,
  PredictedValueDto,
} from '@slipway/ports/plans';

export class CalibrationPredictionDto {
  @StringField()
  plan_id: string;

  @StringField({ description: 'Name of the deployment' })
  deployment: string;

  @StringField({ enum: OUTCOME_PHASES })
  phase: OutcomePhase;

  @TimestampField()
  at: string;

  @StringField({ example: 'ttft_ms' })
  metric: string;

  @StringField({ example: 'p95' })
  stat: string;

  @NumberField({ nullable: true, description: 'Value before the plan' })
  now: number | null;

  @ObjectField(() => PredictedValueDto)
  predicted: PredictedValueDto;

  @ObjectField(() => AchievedValueDto)
  achieved: AchievedValueDto;

  @BooleanField({ description: 'Whether the achieved value is inside the predicted interval' })
  within: boolean;

  @BooleanField({
    description:
      'Whether the predicted or the achieved value differs from the one before by at least 20 percent. Only these count',
  })
  moved: boolean;
}

export class CalibrationKindDto {
  @StringField({ enum: PLAN_KINDS })
  kind: PlanKind;

  @IntField({ min: 0, description: 'Plans with a measured prediction that moved' })
  n: number;

  @NumberField({
    nullable: true,
    description: 'Share of these plans whose every prediction that moved was inside its interval; null without plans',
  })
  coverage_percent: number | null;

  @NumberField({
    nullable: true,
    description: 'Median error of these plans. The error of a plan is its largest over the predictions that moved',
  })
  median_error_percent: number | null;

  @NumberField({
    nullable: true,
    description: 'How much more than predicted was achieved, on average of these plans; negative if less',
  })
  bias_percent: number | null;

  @ArrayField(() => CalibrationPredictionDto, { description: 'The newest 100, newest first' })
  predictions: CalibrationPredictionDto[];
}

export class CalibrationDto {
  @NumberField({ description: 'Level of the intervals, which the coverage is compared with' })
  level_percent: number;

  @IntField({ min: 0, description: 'Plans whose errors decide the intervals of new plans; 0: not yet calibrated' })
  calibrated_on: number;

  @IntField({ description: 'Number of plans from which intervals are calibrated' })
  least_plans: number;

  @NumberField({
    description:
      'Width h of the intervals of new plans: from value / (1 + h / 100) to value * (1 + h / 100). Uncertain measurements make it wider',
  })
  half_width_percent: number;

  @ArrayField(() => CalibrationKindDto, { description: 'Only kinds with measured predictions' })
  kinds: CalibrationKindDto[];
}
