import type { Tx } from '@slipway/platform-database';

export const PLANS = Symbol('PlansPort');

/** A rollout that says which plan it executes. */
export interface PlanExecution {
  tenantId: string;
  planId: string;
  deploymentId: string;
  activeRevisionId: string | null;
  /** Digest of the spec the rollout would build. */
  specDigest: string;
  /** The rest of the rollout that the plan fixes: as the request states it, undefined where it is silent. */
  strategy?: object;
  analysis?: object;
}

export interface ExecutablePlan {
  id: string;
  /** What was approved. */
  contentDigest: string;
  policyVersion: number | null;
}

/** Offered by the Autopilot area. Nothing here writes. */
export interface PlansPort {
  /** The ready-made rollout body of a plan (api.md 2.4). Throws `plan_not_found` (404), also for a plan of another deployment. */
  rolloutOf(
    tx: Tx,
    plan: Pick<PlanExecution, 'tenantId' | 'planId' | 'deploymentId'>,
  ): Promise<Record<string, unknown>>;
  /**
   * Throws what forbids the execution: `plan_not_approved`, `plan_expired`, `plan_stale` (the base is no longer active),
   * `plan_digest_mismatch` (the rollout is not the one that was approved); all 409. The caller holds the deployment's lock.
   */
  assertExecutable(tx: Tx, execution: PlanExecution): Promise<ExecutablePlan>;
}
