import type { Actor, Owner } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { NewEvent } from '@slipway/platform-durable/events';
import type { PlanDto, PlanOutcomeDto, PlanState } from './plan.dto.js';

export {
  PLAN_KINDS,
  PLAN_STATES,
  PlanAssumptionsDto,
  PlanChangeDto,
  PlanDto,
  PlanEvidenceDto,
  PlanOutcomeDto,
  PlanRiskDto,
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
