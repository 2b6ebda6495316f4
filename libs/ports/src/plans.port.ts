import type { Actor, Owner } from '@slipway/contracts';
import type { Tx } from '@slipway/platform-database';
import type { NewEvent } from '@slipway/platform-durable/events';
import type { PlanDto, PlanState } from './plan.dto.js';

export { PLAN_STATES, PlanChangeDto, PlanDto, PlanEvidenceDto, PlanRiskDto, type PlanState } from './plan.dto.js';

export const PLANS = Symbol('PlansPort');

/** Everything of a plan that never changes and that its digest covers, as answers show it. */
export type PlanContent = Omit<PlanDto, 'content_digest' | 'approval' | 'stale' | 'etag'>;

/** Who makes a plan, and for whom it counts as theirs. */
export interface PlanCreator {
  actor: Actor;
  /** Null for the autopilot, whose plans are nobody's own. */
  owner: Owner | null;
  /** Owners of the tokens by which the actor's was minted. */
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
}

/** A rollout that says which plan it executes. */
export interface PlanExecution {
  tenantId: string;
  planId: string;
  deploymentId: string;
  activeRevisionId: string | null;
  /** Digest of the spec the rollout would build. */
  specDigest: string;
  /** The rest of the rollout that the plan fixes: as the request states it, undefined if it is silent. */
  strategy?: object;
  analysis?: object;
}

export interface ExecutablePlan {
  id: string;
  /** What was approved. */
  contentDigest: string;
  policyVersion: number | null;
}

/** What the autopilot proposed for a deployment before. */
export interface ProposalCounts {
  inPeriod: number;
  lastAt: Date | null;
  gpuHours: number;
}

/** Offered by plans. */
export interface PlansPort {
  /** The ready-made rollout body of a plan, as `POST …/rollouts` takes it. Throws `plan_not_found` (404), also for a plan of another deployment. */
  rolloutOf(
    tx: Tx,
    plan: Pick<PlanExecution, 'tenantId' | 'planId' | 'deploymentId'>,
  ): Promise<Record<string, unknown>>;
  /**
   * Throws what forbids the execution: `plan_not_approved`, `plan_expired`, `plan_stale` (the base is no longer active),
   * `plan_digest_mismatch` (the rollout is not the one that was approved); all 409. The caller holds the deployment's lock.
   */
  assertExecutable(tx: Tx, execution: PlanExecution): Promise<ExecutablePlan>;
  /** Freezes a plan, with its audit row and its event. */
  create(tx: Tx, plan: NewPlan): Promise<Plan>;
  /** A plan as answers show it. */
  answer(plan: Plan, isStale: boolean): PlanDto;
  /** The refusal of a plan on a base that is not the active revision: `plan_stale` (409). */
  stale(message: string): Error;
  /** Plans of a deployment that may still move something: undecided, or approved and not out of date. */
  open(tx: Tx, deploymentId: string): Promise<Plan[]>;
  /** Takes a plan back that nobody has decided about. Returns the event to append, or undefined if somebody has. */
  supersede(tx: Tx, plan: Plan, by: Actor): Promise<NewEvent | undefined>;
  /** @param days how far back the period reaches */
  countProposals(tx: Tx, deploymentId: string, days: number): Promise<ProposalCounts>;
}
