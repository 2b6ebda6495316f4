import type { Actor, Owner } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { NewEvent } from '@slipway/platform-durable/events';
import type {
  OutcomePhase,
  OutcomeResult,
  PlanDto,
  PlanKind,
  PlanOutcomeDto,
  PlanState,
  PredictedValueDto,
} from './plan.dto.js';

export {
  AchievedValueDto,
  OUTCOME_PHASES,
  PLAN_KINDS,
  PLAN_STATES,
  PlanAssumptionsDto,
  PlanChangeDto,
  PlanDto,
  PlanEvidenceDto,
  PlanOutcomeDto,
  PlanRiskDto,
  PredictedValueDto,
  type OutcomePhase,
  type OutcomeResult,
  type PlanKind,
  type PlanState,
} from './plan.dto.js';

export const PLANS = Symbol('PlansPort');

/** The immutable part of a plan, which its digest covers, as answers show it. */
export type PlanContent = Omit<
  PlanDto,
  'content_digest' | 'approval' | 'stale' | 'outcomes' | 'assumptions_hold' | 'etag'
>;

/** The actor that creates a plan, and the owner to whom the plan counts. */
export interface PlanCreator {
  actor: Actor;
  /** Null for the autopilot, whose plans have no owner. */
  owner: Owner | null;
  /** Owners of the tokens from which the actor's token descends. */
  minters: readonly Owner[];
}

export interface NewPlan {
  tenantId: string;
  deploymentId: string;
  baseRevisionId: string;
  specDigest: string;
  content: PlanContent;
  approvalsRequired: number;
  preventSelfApproval: boolean;
  requireHostedIdentity: boolean;
  /** Equal for plans that try the same on the same service; null in plans that are older than this field. */
  ideaKey: string | null;
  creator: PlanCreator;
}

export interface PlanDecision {
  decision: Exclude<PlanState, 'pending'>;
  by: Actor & { owner: Owner | null };
  at: string;
  comment: string | null;
  digest: string;
}

export interface Plan extends NewPlan {
  id: string;
  deploymentName: string;
  contentDigest: string;
  state: PlanState;
  isPastExpiry: boolean;
  /** Rises with every decision. */
  version: number;
  decisions: PlanDecision[];
  /** Field names are those of the API. Oldest first. */
  outcomes: PlanOutcomeDto[];
  assumptionsHold: boolean | null;
}

/** A plan that waits for a decision or a rollout, without its content. */
export interface OpenPlan {
  tenantId: string;
  id: string;
  baseRevisionId: string | null;
  createdBy: Actor;
}

/** A rollout that names the plan it executes. */
export interface PlanExecution {
  tenantId: string;
  planId: string;
  deploymentId: string;
  activeRevisionId: string | null;
  /** Digest of the spec that the rollout would build. */
  specDigest: string;
  /** The other parts of the rollout that the plan fixes: as the request states them, undefined if it does not. */
  strategy?: object;
  analysis?: object;
}

export interface ExecutablePlan {
  id: string;
  /** Digest of the approved content. */
  contentDigest: string;
  policyVersion: number | null;
}

/** The caller who wants to approve. */
export interface Approver {
  actor: Actor;
  owner: Owner;
  /** Owners of the tokens that led to the caller's token. */
  minters: readonly Owner[];
}

/** An operation of which a step waits for an approval. */
export interface StartedOperation {
  tenantId: string;
  deploymentId: string;
  /** `requested_by` of the operation. */
  startedBy: Actor;
}

/** Earlier proposals of the autopilot for a deployment. */
export interface ProposalCounts {
  inPeriod: number;
  lastAt: Date | null;
  gpuHours: number;
}

/** Offered by plans. */
export interface PlansPort {
  /**
   * Returns the ready-made rollout body of a plan, as `POST …/rollouts` takes it.
   * @throws plan_not_found (404), also for a plan of another deployment
   */
  rolloutOf(
    tx: Tx,
    plan: Pick<PlanExecution, 'tenantId' | 'planId' | 'deploymentId'>,
  ): Promise<Record<string, unknown>>;
  /**
   * The caller holds the deployment's lock.
   * @throws the reason that forbids the execution: `plan_not_approved`, `plan_expired`, `plan_stale` (the base is no
   * longer active), `plan_digest_mismatch` (the rollout is not the approved one); all 409
   */
  assertExecutable(tx: Tx, execution: PlanExecution): Promise<ExecutablePlan>;
  /**
   * Four eyes for the steps of an operation, as for plans: the caller must not be who began it, unless the policy in
   * force allows that. Without a policy it is not allowed.
   * @throws self_approval (403)
   */
  assertMayApprove(tx: Tx, operation: StartedOperation, who: Approver): Promise<void>;
  /** Freezes a plan, with its audit row and its event. */
  create(tx: Tx, plan: NewPlan): Promise<Plan>;
  /** Returns a plan as answers show it. */
  answer(plan: Plan, isStale: boolean): PlanDto;
  /** Returns the refusal of a plan on a base that is not the active revision: `plan_stale` (409). */
  stale(message: string): Error;
  /** Returns the plans of a deployment that wait for a decision or a rollout: not expired, and never promoted. */
  open(tx: Tx, deploymentId: string): Promise<OpenPlan[]>;
  /** Withdraws an undecided plan. Returns the event to append, or undefined if the plan was decided. */
  supersede(tx: Tx, plan: OpenPlan, by: Actor): Promise<NewEvent | undefined>;
  /** @param days length of the period, counted back from now */
  countProposals(tx: Tx, deploymentId: string, days: number): Promise<ProposalCounts>;
}

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
  /** Null if too few samples came in time, or if they fit the prediction as well as the value before. */
  result: OutcomeResult | null;
  /** Whether the prediction or the achieved value differs from the value before by at least a fifth. */
  hasMoved: boolean;
}

/** The outcomes of one phase, and what a round has to do next about the plan. */
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

/**
 * Offered by plans: the outcomes of executed plans. The caller of the writing methods of a round holds the deployment's
 * lock.
 */
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
