import { systemActor, type RevisionState } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { newId, type Tx } from '@slipway/platform-database';
import { appendEvents } from '@slipway/platform-events';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import {
  revisionEvent,
  type Activation,
  type NewRevision,
  type Revision,
  type RevisionsPort,
} from '@slipway/ports/revisions';
import { revisionErrors } from './revision.errors.js';
import {
  ACTIVATE,
  BY_DIGEST,
  COLLECT,
  CROWDED,
  FIND,
  GET_MANY,
  IDS_OF,
  INSERT,
  LEFT_BY_ROLLBACK,
  PIN,
  PREVIOUS,
  SET_STATE,
  WAS_ACTIVE,
} from './revision.query.js';

const LIVE: RevisionState[] = ['pending', 'provisioning', 'ready', 'active', 'standby', 'draining', 'retired'];

/** The revisions of deployments, for this area's service and, through the port, for others. */
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

  findByDigest(tx: Tx, deploymentId: string, specDigest: string): Promise<Revision | undefined> {
    return tx.one<Revision>(BY_DIGEST, [deploymentId, specDigest]);
  }

  async idsOf(tx: Tx, deploymentId: string): Promise<string[]> {
    return (await tx.query<{ id: string }>(IDS_OF, [deploymentId])).map(({ id }) => id);
  }

  async create(tx: Tx, revision: NewRevision): Promise<Revision> {
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

  async setState(
    tx: Tx,
    id: string,
    state: RevisionState,
    options: { from?: readonly RevisionState[]; message?: string } = {},
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
      revisionEvent('revision.retired', moved, { actor: systemActor('reconciler') }),
    ]);
  }

  previous(tx: Tx, deploymentId: string, from: string | null): Promise<Revision | undefined> {
    return tx.one<Revision>(PREVIOUS, [deploymentId, from]);
  }

  async wasEverActive(tx: Tx, id: string): Promise<boolean> {
    return (await tx.one(WAS_ACTIVE, [id])) !== undefined;
  }

  async pin(tx: Tx, revisionId: string, holder: string): Promise<void> {
    if (!(await tx.one(PIN, [revisionId, holder]))) throw revisionErrors.revision_not_found();
  }

  async crowded(tx: Tx): Promise<string[]> {
    return (await tx.query<{ deploymentId: string }>(CROWDED)).map(({ deploymentId }) => deploymentId);
  }

  async collect(tx: Tx, deploymentId: string, limit: number, kept: readonly string[]): Promise<void> {
    await tx.query(COLLECT, [deploymentId, limit, kept]);
  }
}
