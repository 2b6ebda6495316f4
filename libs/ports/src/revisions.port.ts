import type { Tx } from '@slipway/platform-database';

export const REVISIONS = Symbol('RevisionsPort');

export type RevisionState =
  'pending' | 'provisioning' | 'ready' | 'active' | 'standby' | 'draining' | 'retired' | 'failed';

/** The part of a revision that other areas act on. The spec is immutable and already complete with its defaults. */
export interface Revision {
  id: string;
  tenantId: string;
  deploymentId: string;
  number: number;
  /** `{deployment}-00007` */
  name: string;
  state: RevisionState;
  specDigest: string;
  spec: RevisionSpec;
}

export interface RevisionSpec {
  model: { id: string; uri?: string; revision?: string; format?: string; quantization?: string };
  runtime: {
    target: string;
    engine?: string;
    args: Record<string, string | number | boolean>;
    env: Record<string, string | { secret_ref: string }>;
  };
  endpoint?: { base_url: string; protocol: 'openai'; health_path: string; credential_ref?: string };
  resources?: { accelerator?: string; count?: number; memory_mb?: number };
  scaling: { min_replicas: number; max_replicas?: number };
  probes?: { path?: string; interval_seconds?: number; timeout_seconds?: number; failure_threshold?: number };
}

/** Who made a revision hold all traffic. */
export interface Activation {
  deploymentId: string;
  revisionId: string;
  operationId: string | null;
  /** Set when a rollback made the change: the revision it left is then never a default rollback target again. */
  leftByRollback?: string | null;
}

/** Offered by the Revisions area. */
export interface RevisionsPort {
  /** By id, number or name within one deployment. Throws `revision_not_found` (404). */
  find(tx: Tx, deploymentId: string, reference: string): Promise<Revision>;
  getMany(tx: Tx, ids: readonly string[]): Promise<Revision[]>;
  /**
   * Records that a revision holds 100 % of the traffic: appends to the activation log, moves the deployment's
   * active and previous revision and the states of both (active, standby). The caller holds the deployment's lock.
   */
  activated(tx: Tx, activation: Activation): Promise<void>;
  /** Called by the Targets area when the last instance of a revision has stopped for good. */
  retired(tx: Tx, revisionId: string): Promise<void>;
}
