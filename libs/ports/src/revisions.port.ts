import type { Actor, RevisionSpec, RevisionState } from '@slipway/contracts';
import type { Reads, Tx } from '@slipway/platform-database';
import type { NewEvent } from '@slipway/platform-durable/events';
import type { Deployment } from './deployment-records.port.js';

export { RevisionSpecDto, ScalingOverrideDto, ScalingPatchDto } from './rollout-body.dto.js';

export const REVISIONS = Symbol('RevisionsPort');

/** The fields of a revision that other areas use. */
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

export interface NewRevision {
  /** Locked by the caller. */
  deployment: Deployment;
  /** `next` of `withDigest`. */
  number: number;
  spec: RevisionSpec;
  specDigest: string;
  source: {
    kind: 'rollout' | 'plan' | 'import';
    operation_id: string | null;
    plan_id: string | null;
    base_revision: string | null;
  };
  changeRef: string | null;
  createdBy: Actor;
}

/** The actor that gave a revision all traffic, and the change that did so. */
export interface Activation {
  deploymentId: string;
  revisionId: string;
  operationId: string | null;
  /** Set if a rollback made the change: the revision it left is then never a default rollback target again. */
  leftByRollback?: string | null;
}

export interface RevisionSummary {
  id: string;
  name: string;
  scaling: RevisionSpec['scaling'];
  /** Null if the spec has none. */
  resources: NonNullable<RevisionSpec['resources']> | null;
  runtime: Pick<RevisionSpec['runtime'], 'target' | 'engine'>;
}

/** Offered by revisions. The caller of every writing method except `pin` holds the deployment's lock. */
export interface RevisionsPort {
  /** By id, number or name within one deployment. @throws revision_not_found (404) */
  find(tx: Tx, deploymentId: string, reference: string): Promise<Revision>;
  /** @throws revision_not_found (404) */
  get(tx: Tx, id: string): Promise<Revision>;
  getMany(reads: Reads, ids: readonly string[]): Promise<Revision[]>;
  /** Of the same, the fields that a deployment shows of its revisions. */
  shown(reads: Reads, ids: readonly string[]): Promise<RevisionSummary[]>;
  /**
   * `kept`: number of revisions of this deployment. `next`: number of the next one. `same`: the newest with this spec
   * that has not failed.
   */
  withDigest(
    tx: Tx,
    deploymentId: string,
    specDigest: string,
  ): Promise<{ kept: number; next: number; same: Revision | undefined }>;
  /** Ids of all revisions of the deployment. */
  idsOf(tx: Tx, deploymentId: string): Promise<string[]>;
  /** The same with names and without specs, newest first. */
  namesOf(tx: Tx, deploymentId: string): Promise<Pick<Revision, 'id' | 'name'>[]>;
  create(tx: Tx, revision: NewRevision): Promise<Revision>;
  /**
   * Moves a revision between states; does nothing if its state is not in `from`. Returns the revision if it has moved.
   */
  setState(
    tx: Tx,
    id: string,
    state: RevisionState,
    options?: { from?: readonly RevisionState[]; message?: string },
  ): Promise<Revision | undefined>;
  /**
   * Records that a revision holds 100 % of the traffic: appends to the activation log, updates the deployment's active
   * and previous revision and the states of both (active, standby).
   */
  activated(tx: Tx, activation: Activation): Promise<void>;
  /** Records that the last instance of a revision has stopped for good, and emits an event. */
  retired(tx: Tx, revisionId: string): Promise<void>;
  /**
   * Returns the default rollback target: the newest revision that held all traffic, that no rollback has left and that
   * has not failed, none of `except`.
   */
  previous(tx: Tx, deploymentId: string, except: readonly string[]): Promise<Revision | undefined>;
  wasEverActive(tx: Tx, id: string): Promise<boolean>;
  /** Returns when these deployments last gave a revision all traffic (RFC 3339). Those that never did are left out. */
  lastActivations(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, string>>;
  /**
   * Keeps a revision for good, in the name of a holder such as `binding:<id>`. @throws revision_not_found if it is gone
   */
  pin(tx: Tx, revisionId: string, holder: string): Promise<void>;
  /** Ends a pin. A revision without pins is collected like any other. */
  unpin(tx: Tx, revisionId: string, holder: string): Promise<void>;
  /** Returns deployments with so many old revisions that a collection may be worthwhile. */
  findCrowded(tx: Tx): Promise<string[]>;
  /**
   * Deletes the oldest retired and failed revisions beyond the limit, except those in `kept`, pinned ones, and those
   * that the last activations name.
   */
  collect(tx: Tx, deploymentId: string, limit: number, kept: readonly string[]): Promise<void>;
  /** Returns those of the ids that are revisions, of any state. */
  existing(tx: Tx, ids: readonly string[]): Promise<string[]>;
  /** Returns the next deployments, in the order of their ids, that have revisions which are not pinned. */
  ownersAfter(tx: Tx, deploymentId: string, limit: number): Promise<string[]>;
  /** Deletes the revisions of a deployment that is deleted, except pinned ones. */
  removeOf(tx: Tx, deploymentId: string): Promise<void>;
  /** Returns an event of a revision, such as `revision.created`, for the stream of its deployment. */
  event(type: string, revision: Revision, about: RevisionEventFacts): NewEvent;
}

export interface RevisionEventFacts {
  actor: Actor;
  operationId?: string;
  data?: Record<string, unknown>;
}
