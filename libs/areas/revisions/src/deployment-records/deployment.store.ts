import { ANY_MEDIA_URL, type Actor, type DeploymentState, type ScalingSpec } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import {
  containing,
  Database,
  findPage,
  newId,
  rowPage,
  timesBetween,
  type Reads,
  type RowPage,
  type Tx,
} from '@slipway/platform-database';
import type {
  Condition,
  Deployment,
  DeploymentChange,
  DeploymentFilter,
  DeploymentRecord,
  DeploymentSettings,
  DeploymentsPort,
  DeploymentHealth,
  NewDeployment,
  ConditionType,
} from '@slipway/ports/deployment-records';
import { And, Equal, type FindOptionsWhere, In, IsNull, LessThan, MoreThan, Not, Raw } from 'typeorm';
import { DeploymentEntity } from './deployment.entity.js';
import { deploymentErrors } from './deployment.errors.js';
import {
  GET_DEPLOYMENT,
  GET_DEPLOYMENT_RECORD,
  DEPLOYMENT_ID,
  LIST_DEPLOYMENT_RECORDS,
  LOCK_DEPLOYMENT,
  LOCK_DEPLOYMENT_BY_ID,
  OBSERVE_DEPLOYMENT,
  UPDATE_DEPLOYMENT,
} from './deployment.query.js';

/** Sorts after every id of a deployment, `dep_` and hexadecimal digits, in any collation. */
const BEHIND_ALL = 'dep_z';
type DeploymentCondition = FindOptionsWhere<DeploymentEntity>;
/** The columns that a text is searched in. */
const SEARCHED = ['name', 'displayName', 'description', 'environment'] as const;
/** The settings of a deployment that is deleted: its row stays, and counts as little as possible in the quotas. */
const NOTHING_SET = {
  displayName: null,
  description: null,
  labels: {},
  environment: null,
  defaultStrategy: null,
  defaultAnalysis: null,
  scaling: null,
  mediaUrls: ANY_MEDIA_URL,
  conditions: [],
};

type LockedDeployment = Deployment & { conditions: Condition[] };

/** The rows of `deployments`. Other areas reach them only through its port. */
@Injectable()
export class DeploymentStore implements DeploymentsPort {
  /**
   * Rows that a transaction has locked. No other transaction can change them before it ends, so it need not read them
   * again.
   */
  private readonly locked = new WeakMap<Tx, Map<string, LockedDeployment>>();

  constructor(private readonly database: Database) {}

  async idOf(tenantId: string, name: string): Promise<string> {
    return found(await this.database.find<{ id: string }>({ tenantId }, DEPLOYMENT_ID, name, [tenantId])).id;
  }

  async get(tx: Tx, tenantId: string, name: string): Promise<Deployment> {
    return found(await tx.one<Deployment>(GET_DEPLOYMENT, [tenantId, name]));
  }

  async record(reads: Reads, tenantId: string, name: string): Promise<DeploymentRecord> {
    const [row] = await reads.find<DeploymentRecord & { key: string }>(GET_DEPLOYMENT_RECORD, [name], [tenantId]);
    const { key: _key, ...record } = found(row);
    return record;
  }

  async newest(
    reads: Reads,
    tenantId: string,
    before: string | undefined,
    limit: number,
  ): Promise<RowPage<DeploymentRecord>> {
    const values = [tenantId, before ?? BEHIND_ALL, limit];
    return rowPage(await reads.query<DeploymentRecord>(LIST_DEPLOYMENT_RECORDS, values));
  }

  async lock(tx: Tx, tenantId: string, name: string): Promise<Deployment> {
    const row = await tx.one<LockedDeployment>(LOCK_DEPLOYMENT, [tenantId, name]);
    return withoutConditions(this.keep(tx, found(row)));
  }

  async lockById(tx: Tx, id: string): Promise<Deployment | undefined> {
    const row = await this.lockedRow(tx, id);
    return row && withoutConditions(row);
  }

  list(tx: Tx, tenantId: string, filter: DeploymentFilter): Promise<RowPage<DeploymentRecord>> {
    const { past, environment, state, q, labels = {}, labelKeys = [], limit, order = 'desc', since, until } = filter;
    const wanted = [
      ...(Object.keys(labels).length > 0
        ? [Raw((column) => `${column} @> :labels`, { labels: JSON.stringify(labels) })]
        : []),
      ...(labelKeys.length > 0 ? [Raw((column) => `${column} ?& array[:...labelKeys]`, { labelKeys })] : []),
    ];
    const where: DeploymentCondition = {
      tenantId,
      deletedAt: IsNull(),
      ...(past && { id: order === 'asc' ? MoreThan(past) : LessThan(past) }),
      ...(environment && { environment }),
      ...(state && { state }),
      ...(wanted.length > 0 && { labels: And(...wanted) }),
      ...timesBetween('createdAt', since, until),
    };
    return findPage(tx, DeploymentEntity, {
      where: q === undefined ? where : SEARCHED.map((column) => withText(where, column, q)),
      order: { id: order === 'asc' ? 'ASC' : 'DESC' },
      limit,
    });
  }

  countOthers(tx: Tx, tenantId: string, name: string): Promise<number> {
    return tx.repository(DeploymentEntity).countBy({ tenantId, name: Not(name), deletedAt: IsNull() });
  }

  async create(tx: Tx, deployment: NewDeployment): Promise<DeploymentRecord> {
    const conditions = conditionsOf([], { state: 'creating', currentOperationId: null, health: NO_ROUTE }, new Date());
    const row = { id: newId('dep'), ...deployment, updatedBy: deployment.createdBy, conditions };
    // Two creations of one name meet at the unique index: the second one waits, then inserts nothing.
    const inserted = await tx
      .repository(DeploymentEntity)
      .createQueryBuilder()
      .insert()
      .values(row)
      .orIgnore()
      .returning('*')
      .execute();
    if (inserted.raw.length === 0)
      throw deploymentErrors.deployment_exists({ message: `Deployment ${deployment.name} already exists.` });
    // `row` now has every column as it is stored.
    return row as unknown as DeploymentRecord;
  }

  async update(tx: Tx, id: string, change: DeploymentChange): Promise<void> {
    const row = found(await this.lockedRow(tx, id));
    const next = nextDeployment(row, change);
    const conditions = conditionsOf(row.conditions, next, new Date());
    await tx.query(UPDATE_DEPLOYMENT, [
      id,
      next.state,
      next.activeRevisionId,
      next.candidateRevisionId,
      next.previousRevisionId,
      next.currentOperationId,
      JSON.stringify(conditions),
    ]);
    this.keep(tx, { ...next, conditions, version: row.version + 1 });
  }

  async configure(tx: Tx, id: string, settings: DeploymentSettings, updatedBy: Actor): Promise<void> {
    // Code that uses the row later in this transaction must read it again.
    this.locked.get(tx)?.delete(id);
    await tx
      .repository(DeploymentEntity)
      .update({ id }, { ...settings, updatedBy, version: () => 'version + 1', updatedAt: () => 'now()' });
  }

  async remove(tx: Tx, id: string): Promise<void> {
    this.locked.get(tx)?.delete(id);
    await tx
      .repository(DeploymentEntity)
      .update(
        { id },
        {
          ...NOTHING_SET,
          deletedAt: () => 'now()',
          currentOperationId: null,
          version: () => 'version + 1',
          updatedAt: () => 'now()',
        },
      );
  }

  assess(record: DeploymentRecord, health: DeploymentHealth): { state: DeploymentState; conditions: Condition[] } {
    const state = observedState(record.state, health);
    const { conditions, currentOperationId } = record;
    return { state, conditions: conditionsOf(conditions, { state, currentOperationId, health }, new Date()) };
  }

  async observe(tx: Tx, record: DeploymentRecord, health: DeploymentHealth): Promise<void> {
    const { state, conditions } = this.assess(record, health);
    if (state === record.state && sameConditions(record.conditions, conditions)) return;
    await tx.query(OBSERVE_DEPLOYMENT, [record.id, record.version, state, JSON.stringify(conditions)]);
  }

  async scalingOverrides(tx: Tx, ids?: readonly string[]): Promise<Map<string, Partial<ScalingSpec>>> {
    const rows =
      this.allLocked(tx, ids) ??
      (await tx
        .repository(DeploymentEntity)
        .find({
          select: { id: true, scaling: true },
          where: { scaling: Not(IsNull()), deletedAt: IsNull(), ...(ids && { id: In([...ids]) }) },
        }));
    return new Map(rows.flatMap(({ id, scaling }) => (scaling ? [[id, scaling] as const] : [])));
  }

  async drainSeconds(tx: Tx, id: string): Promise<number> {
    const row = await tx.repository(DeploymentEntity).findOne({ select: { drainSeconds: true }, where: { id } });
    return row?.drainSeconds ?? 0;
  }

  async living(tx: Tx, ids: readonly string[]): Promise<string[]> {
    const where = { id: In([...ids]), deletedAt: IsNull() };
    const rows = await tx.repository(DeploymentEntity).find({ select: { id: true }, where });
    return rows.map(({ id }) => id);
  }

  livingAfter(tx: Tx, id: string, limit: number): Promise<RowPage<DeploymentRecord>> {
    return findPage(tx, DeploymentEntity, {
      where: { deletedAt: IsNull(), state: Not('deleting'), id: MoreThan(id) },
      order: { id: 'ASC' },
      limit,
    });
  }

  /** Called for every rollout that is accepted. */
  private allLocked(tx: Tx, ids: readonly string[] = []): LockedDeployment[] | undefined {
    const rows = ids.flatMap((id) => this.locked.get(tx)?.get(id) ?? []);
    return ids.length > 0 && rows.length === ids.length ? rows : undefined;
  }

  private async lockedRow(tx: Tx, id: string): Promise<LockedDeployment | undefined> {
    const known = this.locked.get(tx)?.get(id);
    if (known) return known;
    const row = await tx.one<LockedDeployment>(LOCK_DEPLOYMENT_BY_ID, [id]);
    return row && this.keep(tx, row);
  }

  private keep(tx: Tx, row: LockedDeployment): LockedDeployment {
    const rows = this.locked.get(tx) ?? new Map<string, LockedDeployment>();
    this.locked.set(tx, rows.set(row.id, row));
    return row;
  }
}

function withoutConditions({ conditions: _, ...deployment }: LockedDeployment): Deployment {
  return deployment;
}

/**
 * Returns a deployment after a change and its consequences: an activated candidate is no longer the candidate, and an
 * active revision ends `creating`.
 */
export function nextDeployment(row: Deployment, change: DeploymentChange): Deployment {
  const next = { ...row, ...definedOf(change) };
  const hasActivated = typeof change.activeRevisionId === 'string';
  if (hasActivated && change.candidateRevisionId === undefined && next.candidateRevisionId === change.activeRevisionId)
    next.candidateRevisionId = null;
  const isUnborn = row.state === 'creating' || row.state === 'failed';
  const state: DeploymentState = hasActivated && isUnborn && change.state === undefined ? 'active' : next.state;
  return { ...next, state };
}

function definedOf(change: DeploymentChange): DeploymentChange {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function found<T>(row: T | undefined): T {
  if (!row) throw deploymentErrors.deployment_not_found();
  return row;
}

export const NO_ROUTE: DeploymentHealth = { isRouted: false, desired: 0, ready: 0, isServing: false };

export interface ConditionFacts {
  state: DeploymentState;
  currentOperationId: string | null;
  /** Undefined if there is no new observation. The last one then stays. */
  health?: DeploymentHealth;
}

type ConditionFinding = Pick<Condition, 'status' | 'reason' | 'message'>;

/** Returns the state that follows from health. States that an operation set and will end stay. */
export function observedState(state: DeploymentState, health: DeploymentHealth): DeploymentState {
  if (!health.isRouted || state === 'deleting' || state === 'progressing' || state === 'paused') return state;
  const isWhole = health.isServing && (health.isAsleep || health.ready >= health.desired);
  if (state === 'active' || state === 'degraded') return isWhole ? 'active' : 'degraded';
  return health.isServing ? (isWhole ? 'active' : 'degraded') : state;
}

/** Returns the three conditions of a deployment. `last_transition_at` changes only with the status. */
export function conditionsOf(previous: readonly Condition[], facts: ConditionFacts, now: Date): Condition[] {
  const found: Record<ConditionType, ConditionFinding | undefined> = {
    Ready: ready(facts),
    Progressing: progressing(facts),
    Degraded: degraded(facts),
  };
  return (Object.keys(found) as ConditionType[]).map((type) => {
    const before = previous.find((one) => one.type === type);
    const finding = found[type] ?? before ?? unseen();
    const moved = before?.status !== finding.status;
    return {
      type,
      status: finding.status,
      reason: finding.reason,
      message: finding.message,
      last_transition_at: moved ? now.toISOString() : (before as Condition).last_transition_at,
    };
  });
}

export function sameConditions(one: readonly Condition[], other: readonly Condition[]): boolean {
  return (
    one.length === other.length &&
    one.every((condition, index) => {
      const twin = other[index] as Condition;
      return (
        condition.type === twin.type &&
        condition.status === twin.status &&
        condition.reason === twin.reason &&
        condition.message === twin.message
      );
    })
  );
}

function ready({ state, health }: ConditionFacts): ConditionFinding | undefined {
  if (state === 'deleting') return no('Deleting', 'The deployment is being deleted.');
  if (!health) return undefined;
  if (!health.isRouted) return no('NoRoute', 'No revision has traffic yet. Create a rollout or set the route.');
  if (!health.isServing)
    return no(
      'NoReadyInstance',
      `A revision with traffic has no ready instance. In total, ${health.ready} of ${health.desired} instances are ready.`,
    );
  if (health.isAsleep)
    return yes(
      'Asleep',
      'The deployment is scaled to zero, because it gets no requests. The next request waits until an instance is ready.',
    );
  return yes('Serving', `${health.ready} of ${health.desired} instances are ready.`);
}

function progressing({ state, currentOperationId }: ConditionFacts): ConditionFinding {
  if (state === 'deleting') return yes('Deleting', 'The deployment is being deleted.');
  if (currentOperationId === null) return no('Idle', 'No operation is running.');
  if (state === 'paused')
    return yes('OperationPaused', `Operation ${currentOperationId} is paused. Resume or cancel it.`);
  return yes('OperationRunning', `Operation ${currentOperationId} is running.`);
}

function degraded({ state, health }: ConditionFacts): ConditionFinding | undefined {
  if (state === 'deleting') return no('Deleting', 'The deployment is being deleted.');
  if (!health) return undefined;
  if (!health.isRouted) return no('NoRoute', 'No revision has traffic.');
  if (health.isAsleep) return no('Asleep', 'The deployment is scaled to zero, because it gets no requests.');
  if (!health.isServing || health.ready < health.desired)
    return yes('InstancesNotReady', `${health.ready} of ${health.desired} instances are ready.`);
  return no('AllInstancesReady', 'All instances of the route are ready.');
}

function unseen(): ConditionFinding {
  return no('NoRoute', 'No revision has traffic.');
}

function yes(reason: string, message: string): ConditionFinding {
  return { status: 'True', reason, message };
}

function no(reason: string, message: string): ConditionFinding {
  return { status: 'False', reason, message };
}

/** The rows of `where` with the text in one column. The column may already have to be equal to another text. */
function withText(where: DeploymentCondition, column: (typeof SEARCHED)[number], text: string): DeploymentCondition {
  const also = where[column];
  return { ...where, [column]: also === undefined ? containing(text) : And(Equal(also as string), containing(text)) };
}
