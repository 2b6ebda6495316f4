import { ordinalOf, systemActor, type RevisionState } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { newId, type Reads, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import {
  type Activation,
  type NewRevision,
  type Revision,
  type RevisionsPort,
  type RevisionEventFacts,
  type RevisionSummary,
} from '@slipway/ports/revisions';
import { In, Not, type FindOptionsWhere } from 'typeorm';
import { RevisionActivationEntity, RevisionEntity, RevisionPinEntity } from './revision.entity.js';
import { revisionErrors } from './revision.errors.js';
import {
  ACTIVATE_REVISION,
  LAST_ACTIVATIONS,
  GET_REVISIONS,
  REMOVE_REVISIONS,
  GET_REVISION,
  INSERT_REVISION,
  SUMMARIZE_REVISIONS,
  PREVIOUS_REVISION,
  REVISION_OWNERS,
  REVISION_WITH_DIGEST,
  SET_REVISION_STATE,
} from './revision.query.js';

const LIVE: RevisionState[] = ['pending', 'provisioning', 'ready', 'active', 'standby', 'draining', 'retired'];
const ENDED: RevisionState[] = ['retired', 'failed'];
/** Maximum number of deployments in one round of the collector. */
const CROWDED_AT_ONCE = 200;
/** The fields that the port returns. */
const RECORD = {
  id: true,
  tenantId: true,
  deploymentId: true,
  number: true,
  name: true,
  state: true,
  specDigest: true,
  spec: true,
} as const;

/** The revisions of deployments, for this area's service and, through the port, for other areas. */
@Injectable()
export class RevisionStore implements RevisionsPort {
  constructor(@Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort) {}

  async find(tx: Tx, deploymentId: string, reference: string): Promise<Revision> {
    const where = byReference(deploymentId, reference);
    const found = await tx.repository(RevisionEntity).findOne({ select: RECORD, where });
    if (!found) throw revisionErrors.revision_not_found();
    return found;
  }

  async getMany(reads: Reads, ids: readonly string[]): Promise<Revision[]> {
    return ids.length === 0 ? [] : reads.query<Revision>(GET_REVISIONS, [ids]);
  }

  async shown(reads: Reads, ids: readonly string[]): Promise<RevisionSummary[]> {
    const rows = await reads.find<Omit<RevisionSummary, 'id'> & { key: string }>(SUMMARIZE_REVISIONS, ids);
    return rows.map(({ key, ...revision }) => ({ id: key, ...revision }));
  }

  async get(tx: Tx, id: string): Promise<Revision> {
    const found = await tx.one<Revision>(GET_REVISION, [id]);
    if (!found) throw revisionErrors.revision_not_found();
    return found;
  }

  async withDigest(tx: Tx, deploymentId: string, specDigest: string) {
    type Row = { kept: number; next: number } & (Revision | { id: null });
    const { kept, next, ...same } = (await tx.one<Row>(REVISION_WITH_DIGEST, [deploymentId, specDigest])) as Row;
    return { kept, next, same: same.id === null ? undefined : same };
  }

  async idsOf(tx: Tx, deploymentId: string): Promise<string[]> {
    const order = { number: 'ASC' } as const;
    const found = await tx.repository(RevisionEntity).find({ select: { id: true }, where: { deploymentId }, order });
    return found.map(({ id }) => id);
  }

  namesOf(tx: Tx, deploymentId: string): Promise<Pick<Revision, 'id' | 'name'>[]> {
    const order = { number: 'DESC' } as const;
    return tx.repository(RevisionEntity).find({ select: { id: true, name: true }, where: { deploymentId }, order });
  }

  async create(tx: Tx, { deployment, number, spec, specDigest, source, changeRef, createdBy }: NewRevision) {
    const { tenantId, id: deploymentId } = deployment;
    const name = `${deployment.name}-${String(number).padStart(5, '0')}`;
    const revision: Revision = {
      id: newId('rev'),
      tenantId,
      deploymentId,
      number,
      name,
      state: 'pending',
      specDigest,
      spec,
    };
    const { id, state } = revision;
    const json = [spec, source].map((value) => JSON.stringify(value));
    const values = [id, tenantId, deploymentId, number, name, state, specDigest, ...json, changeRef];
    await tx.query(INSERT_REVISION, [...values, JSON.stringify(createdBy)]);
    return revision;
  }

  async setState(
    tx: Tx,
    id: string,
    state: RevisionState,
    options: { from?: readonly RevisionState[]; message?: string } = {},
  ): Promise<Revision | undefined> {
    return tx.one<Revision>(SET_REVISION_STATE, [id, state, options.message ?? '', options.from ?? LIVE]);
  }

  async activated(tx: Tx, activation: Activation): Promise<void> {
    const { deploymentId, revisionId, leftByRollback } = activation;
    const deployment = await this.deployments.lockById(tx, deploymentId);
    if (!deployment) return;
    const { tenantId } = deployment;
    await tx.query(ACTIVATE_REVISION, [tenantId, deploymentId, revisionId, activation.operationId]);
    if (leftByRollback)
      await tx
        .repository(RevisionActivationEntity)
        .update({ tenantId, deploymentId, revisionId: leftByRollback }, { isLeftByRollback: true });
    if (deployment.activeRevisionId === revisionId) return;
    const previous = await this.previous(tx, deploymentId, [revisionId]);
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
      this.event('revision.retired', moved, { actor: systemActor('reconciler') }),
    ]);
  }

  event(type: string, revision: Revision, { actor, operationId, data }: RevisionEventFacts): NewEvent {
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

  previous(tx: Tx, deploymentId: string, except: readonly string[]): Promise<Revision | undefined> {
    return tx.one<Revision>(PREVIOUS_REVISION, [deploymentId, except]);
  }

  wasEverActive(tx: Tx, id: string): Promise<boolean> {
    return tx.repository(RevisionActivationEntity).existsBy({ revisionId: id });
  }

  async lastActivations(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await reads.find<{ key: string; at: string }>(LAST_ACTIVATIONS, deploymentIds);
    return new Map(rows.map(({ key, at }) => [key, at]));
  }

  /** The lock waits for a deletion of the revision that is in progress. Then it finds nothing to pin. */
  async pin(tx: Tx, revisionId: string, holder: string): Promise<void> {
    const kept = await tx
      .repository(RevisionEntity)
      .findOne({ select: { id: true, tenantId: true }, where: { id: revisionId }, lock: { mode: 'for_key_share' } });
    if (!kept) throw revisionErrors.revision_not_found();
    const pin = { revisionId, holder, tenantId: kept.tenantId };
    await tx.repository(RevisionPinEntity).createQueryBuilder().insert().values(pin).orIgnore().execute();
  }

  async unpin(tx: Tx, revisionId: string, holder: string): Promise<void> {
    await tx.repository(RevisionPinEntity).delete({ revisionId, holder });
  }

  async findCrowded(tx: Tx): Promise<string[]> {
    const rows = await tx
      .repository(RevisionEntity)
      .createQueryBuilder('r')
      .select('r.deploymentId', 'deploymentId')
      .where({ state: In(ENDED) })
      .andWhere('not exists (select from revision_pins p where p.revision_id = r.id)')
      .groupBy('r.deploymentId')
      .having('count(*) > 1')
      .limit(CROWDED_AT_ONCE)
      .getRawMany<{ deploymentId: string }>();
    return rows.map(({ deploymentId }) => deploymentId);
  }

  /**
   * Deletes ended revisions beyond the newest `limit`, except pinned ones and those in the rollback window (the last
   * activations).
   */
  async collect(tx: Tx, deploymentId: string, limit: number, kept: readonly string[]): Promise<void> {
    const activations = await tx
      .repository(RevisionActivationEntity)
      .find({ select: { id: true, revisionId: true }, where: { deploymentId }, order: { id: 'DESC' }, take: limit });
    const named = [...kept, ...activations.map(({ revisionId }) => revisionId)];
    const ended = await tx
      .repository(RevisionEntity)
      .find({
        select: { id: true },
        where: { deploymentId, state: In(ENDED), id: Not(In(named)) },
        order: { number: 'DESC' },
      });
    const ids = ended.map(({ id }) => id);
    const pins = await tx.repository(RevisionPinEntity).findBy({ revisionId: In(ids) });
    const pinned = new Set(pins.map(({ revisionId }) => revisionId));
    const surplus = ids.filter((id) => !pinned.has(id)).slice(limit);
    if (surplus.length > 0) await tx.repository(RevisionEntity).delete({ deploymentId, id: In(surplus) });
  }

  async existing(tx: Tx, ids: readonly string[]): Promise<string[]> {
    const rows = await tx.repository(RevisionEntity).find({ select: { id: true }, where: { id: In(ids) } });
    return rows.map(({ id }) => id);
  }

  async ownersAfter(tx: Tx, deploymentId: string, limit: number): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(REVISION_OWNERS, [deploymentId, limit]);
    return rows.map(({ id }) => id);
  }

  async removeOf(tx: Tx, deploymentId: string): Promise<void> {
    await tx.query(REMOVE_REVISIONS, [deploymentId]);
  }
}

/** By id, name or number. */
export function byReference(deploymentId: string, reference: string): FindOptionsWhere<RevisionEntity>[] {
  const number = ordinalOf(reference);
  return [
    { deploymentId, id: reference },
    { deploymentId, name: reference },
    ...(number === undefined ? [] : [{ deploymentId, number }]),
  ];
}
