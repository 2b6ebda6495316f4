import type { Tx } from '@slipway/platform-database';

export const DEPLOYMENTS = Symbol('DeploymentsPort');

export type DeploymentState = 'creating' | 'active' | 'progressing' | 'paused' | 'degraded' | 'failed' | 'deleting';

/** A deployment as other areas see it. Times and JSON shapes of its own answers are not their business. */
export interface Deployment {
  id: string;
  tenantId: string;
  name: string;
  state: DeploymentState;
  /** The deployment's `default_strategy` as stored, or null. */
  defaultStrategy: Record<string, unknown> | null;
  revisionHistoryLimit: number;
  /** The revision that last held 100 % of the traffic. */
  activeRevisionId: string | null;
  candidateRevisionId: string | null;
  previousRevisionId: string | null;
  /** The live rollout, rollback or deletion, or null. */
  currentOperationId: string | null;
  /** Changes at every write; the ETag is made of it. */
  version: number;
}

export interface DeploymentChange {
  state?: DeploymentState;
  activeRevisionId?: string | null;
  candidateRevisionId?: string | null;
  previousRevisionId?: string | null;
  currentOperationId?: string | null;
}

/** Offered by the Deployments area. Every look-up is by tenant; a foreign name is not found. */
export interface DeploymentsPort {
  /** Reads without a lock. Throws `deployment_not_found` (404). */
  get(tx: Tx, tenantId: string, name: string): Promise<Deployment>;
  /** Locks the row until the transaction ends: the first lock of every mutation of a deployment. Throws `deployment_not_found`. */
  lock(tx: Tx, tenantId: string, name: string): Promise<Deployment>;
  /** The same by id, for workers; undefined when the deployment is gone. */
  lockById(tx: Tx, id: string): Promise<Deployment | undefined>;
  /** Writes the given fields of a row the caller has locked, and derives its conditions. */
  update(tx: Tx, id: string, change: DeploymentChange): Promise<void>;
}

/** The event stream of one deployment. */
export function deploymentStream(deploymentId: string): string {
  return `deployment/${deploymentId}`;
}
