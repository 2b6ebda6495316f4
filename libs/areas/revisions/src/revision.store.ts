import { Inject, Injectable } from '@nestjs/common';
import { newId, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-operations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Activation,
  type Deployment,
  type DeploymentsPort,
  type Revision,
  type RevisionSpec,
  type RevisionsPort,
  type RevisionState,
} from '@slipway/ports';
import { revisionErrors } from './revision.errors.js';
import {
  ACTIVATE,
  BY_DIGEST,
  FIND,
  GET_MANY,
  INSERT,
  LEFT_BY_ROLLBACK,
  PREVIOUS,
  SET_STATE,
  WAS_ACTIVE,
} from './revision.query.js';

export interface NewRevision {
  deployment: Deployment;
  spec: RevisionSpec;
  specDigest: string;
  source: {
    kind: 'rollout' | 'plan' | 'import';
    operation_id: string | null;
    plan_id: string | null;
    base_revision: string | null;
  };
  changeRef: string | null;
  createdBy: { type: string; id: string };
}

const LIVE: RevisionState[] = ['pending', 'provisioning', 'ready', 'active', 'standby', 'draining', 'retired'];

/** The revisions of deployments, for this area's services and, through the port, for others. */
@Injectable()
export class RevisionStore implements RevisionsPort {
  constructor(@Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort) {}

  async find(tx: Tx, deploymentId: string, reference: string): Promise<Revision> {
    const found = await tx.one<Revision>(FIND, [deploymentId, reference]);
    if (!found) throw revisionErrors.revision_not_found();
    return found;
  }

  async getMany(tx: Tx, ids: readonly string[]): Promise<Revision[]> {
    return ids.length === 0 ? [] : tx.query<Revision>(GET_MANY, [ids]);
  }

  async get(tx: Tx, id: string): Promise<Revision> {
    const [found] = await this.getMany(tx, [id]);
    if (!found) throw revisionErrors.revision_not_found();
    return found;
  }

  /** The newest revision of this deployment with this spec that has not failed. */
  findByDigest(tx: Tx, deploymentId: string, specDigest: string): Promise<Revision | undefined> {
    return tx.one<Revision>(BY_DIGEST, [deploymentId, specDigest]);
  }

  /** The caller holds the deployment's lock. */
  async insert(tx: Tx, revision: NewRevision): Promise<Revision> {
    const { deployment } = revision;
    const row = await tx.one<Revision>(INSERT, [
      newId('rev'),
      deployment.tenantId,
      deployment.id,
      deployment.name,
      JSON.stringify(revision.spec),
      revision.specDigest,
      JSON.stringify(revision.source),
      revision.changeRef,
      JSON.stringify(revision.createdBy),
    ]);
    return row as Revision;
  }

  /** Moves a revision between states; from a state not in `from` nothing happens. Tells whether it moved. */
  async setState(
    tx: Tx,
    id: string,
    state: RevisionState,
    options: { from?: RevisionState[]; message?: string } = {},
  ): Promise<Revision | undefined> {
    return tx.one<Revision>(SET_STATE, [id, state, options.message ?? '', options.from ?? LIVE]);
  }

  async activated(tx: Tx, activation: Activation): Promise<void> {
    const { deploymentId, revisionId } = activation;
    const deployment = await this.deployments.lockById(tx, deploymentId);
    if (!deployment) return;
    await tx.query(ACTIVATE, [deployment.tenantId, deploymentId, revisionId, activation.operationId]);
    if (activation.leftByRollback) await tx.query(LEFT_BY_ROLLBACK, [deploymentId, activation.leftByRollback]);
    if (deployment.activeRevisionId === revisionId) return;
    const previous = await this.previous(tx, deploymentId, revisionId);
    await this.deployments.update(tx, deploymentId, {
      activeRevisionId: revisionId,
      previousRevisionId: previous?.id ?? null,
    });
  }

  async retired(tx: Tx, revisionId: string): Promise<void> {
    const moved = await this.setState(tx, revisionId, 'retired', {
      from: ['pending', 'provisioning', 'ready', 'standby', 'draining'],
    });
    if (!moved) return;
    await appendEvents(tx, moved.tenantId, deploymentStream(moved.deploymentId), [
      revisionEvent('revision.retired', moved, { type: 'system', id: 'reconciler' }),
    ]);
  }

  /** Where a rollback without a target goes, seen from the given revision. */
  previous(tx: Tx, deploymentId: string, from: string | null): Promise<Revision | undefined> {
    return tx.one<Revision>(PREVIOUS, [deploymentId, from]);
  }

  async wasEverActive(tx: Tx, id: string): Promise<boolean> {
    return (await tx.one(WAS_ACTIVE, [id])) !== undefined;
  }
}

export function revisionEvent(
  type: string,
  revision: Revision,
  actor: { type: string; id: string },
  operationId?: string,
  data: Record<string, unknown> = {},
): NewEvent {
  return {
    type,
    subject: `revisions/${revision.id}`,
    actor,
    operationId,
    revisionId: revision.id,
    data: {
      revision: revision.name,
      revision_id: revision.id,
      number: revision.number,
      spec_digest: revision.specDigest,
      ...data,
    },
  };
}
