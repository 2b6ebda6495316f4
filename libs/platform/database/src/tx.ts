import type { EntityTarget, ObjectLiteral, QueryRunner, Repository } from 'typeorm';
import type { PoolClient } from 'pg';
import type { TransactionLocks } from './transaction-watch.js';
import { send } from './connection.js';
import { prepared, type Statement } from './statement.js';

const NOW = prepared('transaction-now', 'select now() as now');

/** Who a transaction acts for: one tenant (row-level security shows its rows only) or the system (all rows). */
export type TxScope = { tenantId: string } | 'system';

/**
 * What answers a statement: an open transaction, or `Database.lookups`, where each is one of its own. Both show what is committed at the
 * moment of the statement, and what the transaction itself has written.
 */
export interface Reads {
  query<R = Record<string, unknown>>(statement: Statement, values?: unknown[]): Promise<R[]>;
  one<R = Record<string, unknown>>(statement: Statement, values?: unknown[]): Promise<R | undefined>;
  /** The rows of these keys, each a different one, by a statement as `Database.find` takes it. A key without a row is left out. */
  find<R = Record<string, unknown>>(
    statement: Statement,
    keys: readonly string[],
    shared?: readonly string[],
  ): Promise<R[]>;
}

/**
 * An open transaction. It is the first argument of every method that writes; nobody keeps one after its callback ended.
 * `repository` is for plain reads and writes of a table, `query` and `one` for SQL that earns its keep. All use the transaction's
 * own connection.
 */
export class Tx implements Reads {
  constructor(
    readonly tenantId: string | null,
    private readonly runner: QueryRunner,
    private readonly client: PoolClient,
    /** In tests: what it has locked. */
    private readonly held?: TransactionLocks,
  ) {}

  /**
   * TypeORM's repository of an entity, bound to this transaction. Use `find…`, `insert`, `update` and `delete`, each with the tenant
   * among its conditions. Not `save`: it reads before it writes, and what happens between the two is lost.
   */
  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.runner.manager.getRepository(entity);
  }

  /** The tenant of this transaction; throws in a system transaction, which has none. */
  get tenant(): string {
    if (this.tenantId === null) throw new Error('a system transaction has no tenant');
    return this.tenantId;
  }

  /** When this transaction began, by the clock that stored times were taken from: what ages are measured with. */
  async now(): Promise<Date> {
    const row = await this.one<{ now: Date }>(NOW);
    return (row as { now: Date }).now;
  }

  async query<R = Record<string, unknown>>(statement: Statement | string, values: unknown[] = []): Promise<R[]> {
    if (!this.held || typeof statement === 'string') return this.send<R>(statement, values);
    this.held.assertMayTake(statement, values);
    const rows = await this.send<R & object>(statement, values);
    this.held.took(statement, values, rows);
    return rows;
  }

  /**
   * One look at the rows of all tenants, also from inside a tenant's transaction: what decides about one may stand with others. The
   * rows are for that decision and for no answer.
   */
  async lookAsSystem<R = Record<string, unknown>>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    if (this.tenantId === null) return this.query<R>(statement, values);
    // Sent together, so that nothing of this transaction comes between the two roles.
    const results = await Promise.allSettled([
      this.client.query('SET LOCAL ROLE slipway_system'),
      this.send<R>(statement, values),
      this.client.query('SET LOCAL ROLE slipway_tenant'),
    ]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    return (results[1] as PromiseFulfilledResult<R[]>).value;
  }

  private async send<R>(statement: Statement | string, values: unknown[]): Promise<R[]> {
    return (await send(this.client, statement, values)).rows as R[];
  }

  async one<R = Record<string, unknown>>(
    statement: Statement | string,
    values: unknown[] = [],
  ): Promise<R | undefined> {
    const rows = await this.query<R>(statement, values);
    return rows[0];
  }

  async find<R>(statement: Statement, keys: readonly string[], shared: readonly string[] = []): Promise<R[]> {
    return keys.length === 0 ? [] : this.query<R>(statement, [keys, ...shared]);
  }
}

/** What a transaction may be told at its begin. */
export interface TxSettings {
  /** A lock that is not given in this time fails it. */
  lockWithinMs?: number;
  /** Its statements are planned once, not for their values: Postgres goes on planning for values whose plans once looked cheap, while tables were small. */
  hasOnePlan?: boolean;
}

/** Opens a transaction under the scope's role and tenant, in one message. */
export function beginText(scope: TxScope, { lockWithinMs, hasOnePlan }: TxSettings = {}): string {
  const role =
    scope === 'system'
      ? 'SET LOCAL ROLE slipway_system'
      : `SET LOCAL ROLE slipway_tenant; SET LOCAL slipway.tenant = ${quotedTenant(scope.tenantId)}`;
  const limit = lockWithinMs === undefined ? '' : `; SET LOCAL lock_timeout = ${Math.ceil(lockWithinMs)}`;
  const plans = hasOnePlan ? '; SET LOCAL plan_cache_mode = force_generic_plan' : '';
  return `BEGIN; ${role}${limit}${plans}`;
}

/** The id as it stands in a SET, which takes no parameters; the pattern keeps it harmless. */
export function quotedTenant(tenantId: string): string {
  if (!/^[a-z0-9_]{1,64}$/.test(tenantId)) throw new Error('not a tenant id');
  return `'${tenantId}'`;
}
