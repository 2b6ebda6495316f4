import { Inject, Injectable } from '@nestjs/common';
import { calibrate, LEAST_SCORES, levelOf, summarize } from '@slipway/diagnosis';
import { Database } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { type CalibrationRow, PLAN_KINDS, PLAN_OUTCOMES, type PlanOutcomesPort } from '@slipway/ports/plans';
import type { CalibrationDto, CalibrationKindDto, CalibrationPredictionDto } from './calibration.dto.js';

/** One-sided, as in the defaults of policies: those of single deployments may differ. */
const CONFIDENCE = 0.95;
const MOST_PREDICTIONS = 100;

/** Compares what plans predicted with what they achieved. Writes nothing. */
@Injectable()
export class CalibrationService {
  constructor(
    private readonly database: Database,
    @Inject(PLAN_OUTCOMES) private readonly outcomes: PlanOutcomesPort,
  ) {}

  get({ tenantId }: Principal): Promise<CalibrationDto> {
    return this.database.tx({ tenantId }, async (tx) => {
      const { width, calibratedOn } = calibrate(await this.outcomes.scores(tx, tenantId), CONFIDENCE);
      const rows = await this.outcomes.calibration(tx, tenantId);
      return {
        level_percent: rounded(levelOf(CONFIDENCE) * 100),
        calibrated_on: calibratedOn,
        least_plans: LEAST_SCORES,
        half_width_percent: rounded(Math.expm1(width) * 100),
        kinds: PLAN_KINDS.flatMap((kind) => {
          const own = rows.filter((row) => row.kind === kind);
          return own.length === 0 ? [] : [kindAnswer(kind, own)];
        }),
      };
    });
  }
}

function kindAnswer(kind: CalibrationRow['kind'], rows: readonly CalibrationRow[]): CalibrationKindDto {
  const { n, coveragePercent, medianErrorPercent, biasPercent } = summarize(rows);
  return {
    kind,
    n,
    coverage_percent: rounded(coveragePercent),
    median_error_percent: rounded(medianErrorPercent),
    bias_percent: rounded(biasPercent),
    predictions: rows.slice(0, MOST_PREDICTIONS).map(predictionAnswer),
  };
}

function predictionAnswer(row: CalibrationRow): CalibrationPredictionDto {
  const { planId, deployment, phase, at, metric, stat, now, predicted, achieved, within, hasMoved } = row;
  const values = { metric, stat, now, predicted, achieved, within, moved: hasMoved };
  return { plan_id: planId, deployment, phase, at: at.toISOString(), ...values };
}

/** More than a tenth of a percent would be noise. */
function rounded<T extends number | null>(percent: T): T {
  return (percent === null ? null : Math.round(percent * 10) / 10) as T;
}
