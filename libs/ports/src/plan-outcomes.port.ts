import type { Tx } from '@slipway/platform-database';
import type { OutcomePhase, OutcomeResult, PlanKind, PredictedValueDto } from './plan.dto.js';
import type { PlanContent } from './plans.port.js';

export {
  AchievedValueDto,
  OUTCOME_PHASES,
  PredictedValueDto,
  type OutcomePhase,
  type OutcomeResult,
} from './plan.dto.js';

export const PLAN_OUTCOMES = Symbol('PlanOutcomesPort');

/** A rollout that executed a plan and has ended. */
export interface ExecutedPlan {
  tenantId: string;
  planId: string;
  revisionId: string;
  /** False if the rollout restored the previous route. */
  isPromoted: boolean;
}

/** An executed plan of which an outcome is due. */
export interface DueOutcome {
  planId: string;
  revisionId: string;
  /** Null if the rollout restored the previous route. */
  promotedAt: Date | null;
  phase: OutcomePhase;
  contentDigest: string;
  baseRevisionId: string;
  kind: PlanKind | null;
  content: Pick<PlanContent, 'assumes' | 'predicted_impact' | 'evidence'>;
}

/** An achieved value, in the names of the record. */
export interface AchievedValue {
  value: number;
  low: number;
  /** Null if too few values bound it. */
  high: number | null;
  n: number;
}

export interface RecordedOutcome {
  metric: string;
  stat: string;
  now: number | null;
  predicted: PredictedValueDto | null;
  achieved: AchievedValue | null;
  within: boolean | null;
  logError: number | null;
  /** Null if too few samples came in time. */
  result: OutcomeResult | null;
  /** Whether the prediction or the achieved value differs from the value before by at least a fifth. */
  hasMoved: boolean;
}

/** What a round recorded about one phase, and what it has to do next about the plan. */
export interface OutcomeRecord {
  outcomes: readonly RecordedOutcome[];
  assumptionsHold: boolean | null;
  /** The next phase and when it is due; null after the last one. */
  next: { phase: OutcomePhase; at: Date } | null;
  needsRevert: boolean;
}

/** A plan that made things worse and whose revert plan is still to be written. */
export interface PlanToRevert {
  planId: string;
  summary: string;
  changes: PlanContent['changes'];
  assumes: PlanContent['assumes'];
  predictedImpact: PlanContent['predicted_impact'];
  outcomes: (RecordedOutcome & { at: Date })[];
}

/** An idea that did not help, or that a person rejected. */
export interface FailedIdea {
  key: string;
  planId: string;
  result: 'worse' | 'no_effect' | 'rejected';
  at: Date;
}

/** A measured prediction, newest first. */
export interface CalibrationRow extends RecordedOutcome {
  planId: string;
  deployment: string;
  kind: PlanKind;
  phase: OutcomePhase;
  at: Date;
  predicted: PredictedValueDto;
  achieved: AchievedValue;
  within: boolean;
  logError: number;
}

/** Offered by plans: what executed plans achieved. The caller of the writing methods of a round holds the deployment's lock. */
export interface PlanOutcomesPort {
  /** Notes that a rollout of a plan has ended, so that outcomes become due. Does nothing if the plan is gone. */
  executed(tx: Tx, plan: ExecutedPlan): Promise<void>;
  /**
   * Returns a bounded number of plans of a deployment of which an outcome is due now, by the clock of the database, or
   * whose revision is no longer the active one.
   */
  due(tx: Tx, deploymentId: string, activeRevisionId: string | null): Promise<DueOutcome[]>;
  /** Looks at a plan again later. */
  postpone(tx: Tx, plan: Pick<DueOutcome, 'planId' | 'phase'>, seconds: number): Promise<void>;
  /** Records a phase once. Returns false if it was recorded before. */
  record(tx: Tx, plan: Pick<DueOutcome, 'planId' | 'phase'>, record: OutcomeRecord): Promise<boolean>;
  /** Returns the plan of this active revision that made things worse, if its revert plan is still to be written. */
  toRevert(tx: Tx, deploymentId: string, activeRevisionId: string): Promise<PlanToRevert | undefined>;
  reverted(tx: Tx, planId: string, revertPlanId: string): Promise<void>;
  /** Returns the newest ideas of a deployment that did not help, or were rejected, in the last so many seconds. */
  failedIdeas(tx: Tx, deploymentId: string, seconds: number): Promise<FailedIdea[]>;
  /** Returns the largest |ln(achieved ÷ predicted)| of each of the tenant's newest plans by the autopilot's model. */
  scores(tx: Tx, tenantId: string): Promise<number[]>;
  /** Returns a bounded number of measured predictions of each kind, newest first. */
  calibration(tx: Tx, tenantId: string): Promise<CalibrationRow[]>;
}
