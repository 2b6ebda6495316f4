import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import type {
  CalibrationRow,
  DueOutcome,
  ExecutedPlan,
  FailedIdea,
  OutcomeRecord,
  PlanOutcomesPort,
  PlanToRevert,
} from '@slipway/ports/plans';
import { PlanExecutionEntity } from './outcome.entity.js';
import {
  CALIBRATION_ROWS,
  CALIBRATION_SCORES,
  DUE_OUTCOMES,
  FAILED_IDEAS,
  NOTE_EXECUTION,
  PLAN_TO_REVERT,
  POSTPONE_OUTCOME,
  RECORD_OUTCOME,
} from './outcome.query.js';

/** Outcomes of executed plans. The rows decide what is due, so a worker that dies loses no outcome and doubles none. */
@Injectable()
export class OutcomeStore implements PlanOutcomesPort {
  async executed(tx: Tx, { tenantId, planId, revisionId, isPromoted }: ExecutedPlan): Promise<void> {
    await tx.query(NOTE_EXECUTION, [tenantId, planId, revisionId, isPromoted]);
  }

  due(tx: Tx, deploymentId: string, activeRevisionId: string | null): Promise<DueOutcome[]> {
    return tx.query<DueOutcome>(DUE_OUTCOMES, [deploymentId, activeRevisionId]);
  }

  async postpone(tx: Tx, { planId, phase }: Pick<DueOutcome, 'planId' | 'phase'>, seconds: number): Promise<void> {
    await tx.query(POSTPONE_OUTCOME, [planId, phase, seconds]);
  }

  async record(
    tx: Tx,
    { planId, phase }: Pick<DueOutcome, 'planId' | 'phase'>,
    { outcomes, assumptionsHold, next, needsRevert }: OutcomeRecord,
  ): Promise<boolean> {
    const values = [planId, phase, next?.phase ?? 'done', next?.at ?? null, needsRevert];
    const found = await tx.one(RECORD_OUTCOME, [...values, JSON.stringify(outcomes), assumptionsHold]);
    return found !== undefined;
  }

  async toRevert(tx: Tx, deploymentId: string, activeRevisionId: string): Promise<PlanToRevert | undefined> {
    const found = await tx.one<PlanToRevert>(PLAN_TO_REVERT, [deploymentId, activeRevisionId]);
    return found && { ...found, outcomes: found.outcomes.map((one) => ({ ...one, at: new Date(one.at) })) };
  }

  async reverted(tx: Tx, planId: string, revertPlanId: string): Promise<void> {
    await tx.repository(PlanExecutionEntity).update({ planId }, { revertPlanId, needsRevert: false });
  }

  failedIdeas(tx: Tx, deploymentId: string, seconds: number): Promise<FailedIdea[]> {
    return tx.query<FailedIdea>(FAILED_IDEAS, [deploymentId, seconds]);
  }

  async scores(tx: Tx, tenantId: string): Promise<number[]> {
    return (await tx.query<{ score: number }>(CALIBRATION_SCORES, [tenantId])).map(({ score }) => score);
  }

  calibration(tx: Tx, tenantId: string): Promise<CalibrationRow[]> {
    return tx.query<CalibrationRow>(CALIBRATION_ROWS, [tenantId]);
  }
}
