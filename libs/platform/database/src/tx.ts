import { AsyncLocalStorage } from 'node:async_hooks';
import type { Writable } from 'node:stream';
import pg from 'pg';
import type { ClientBase, PoolClient, QueryResult } from 'pg';
import type { EntityTarget, ObjectLiteral, QueryRunner, Repository } from 'typeorm';

/**
 * The order in which every transaction takes row and advisory locks that several areas share. Transactions that take
 * them in this order cannot deadlock with each other. A statement that takes such a lock declares it (`locking`), and
 * in tests a transaction that takes locks out of order fails.
 *
 * Locks that are not in the list are taken by one area only, which keeps its own order.
 */
export const LOCK_ORDER = [
  /** An Idempotency-Key: its request waits here for the previous one. */
  'idempotency_key',
  /** The first lock of everything that changes a deployment. */
  'deployment',
  /** Decisions about a plan are made one at a time. */
  'plan',
  /** A quota of a tenant: each transaction that adds to it counts after the previous one. */
  'quota',
  /** The wanted instances of a revision: reasons to retain them, and the reconciler's changes. */
  'workload',
  /** The row of a durable operation: a commit of its worker, a cancel, a retry. */
  'operation',
  /** The end of an event stream. It is late, because its sequence numbers must become visible in commit order. */
  'event_stream',
  /** The stored bytes and rows of a tenant. A transaction takes it after its last write, and then only commits. */
  'stored',
  /** The rows that the caller's access rests on. A mutation reads them again right before its commit. */
  'caller',
] as const;

export type Lock = (typeof LOCK_ORDER)[number];

/**
 * A statement that the server parses and plans once per connection. A name must belong to one text only, so statements
 * are made at module load, or once for each of a few kinds.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Made by `lookup`: may share a connection with reads of other requests. */
  readonly isLookup?: true;
  /** The most keys that `Database.find` sends at a time, if it is not the usual number. */
  readonly mostKeys?: number;
  /** Made by `locking`: the locks of `LOCK_ORDER` that it takes, in that order. */
  readonly locks?: readonly LockUse[];
}

interface LockUse {
  readonly lock: Lock;
  /** Returns the rows of that lock that the values name. */
  readonly keysOf: (values: readonly unknown[]) => readonly string[];
}

const textByName = new Map<string, string>();

/**
 * Registers a named statement. @throws Error if another text already has the name, which Postgres would refuse at run
 * time
 */
export function prepared(name: string, text: string): Statement {
  const known = textByName.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  textByName.set(name, text);
  return { name, text };
}

/**
 * Registers a statement that finds a few rows by key, quickly: no locks, no writes, no functions that wait.
 * `Database.read` sends it over connections that all requests share, where a slow statement would delay all later ones.
 * @param options.mostKeys keys that `Database.find` combines in one statement, if that is not the usual number
 */
export function lookup(name: string, text: string, options: Pick<Statement, 'mostKeys'> = {}): Statement {
  return { ...prepared(name, text), isLookup: true, ...options };
}

/**
 * The keys of a look-up for `Database.find`: `where id = any ${KEYS}`. They are inside a select, so that Postgres
 * cannot count them. Otherwise it would estimate that one plan for any number of keys costs more than a plan for this
 * number, and would plan each time, which takes longer than the look-up.
 */
export const KEYS = '((select $1::text[])::text[])';

/**
 * Declares that a statement takes a lock of the order, in addition to the locks that it already declares. Its first
 * value is the key, unless `keysOf` says otherwise.
 * @param keysOf returns the rows of that lock that the values name: their ids, or another key that distinguishes them
 */
export function locking(
  lock: Lock,
  statement: Statement,
  keysOf: (values: readonly unknown[]) => readonly string[] = ([first]) => [String(first)],
): Statement {
  return { ...statement, locks: [...(statement.locks ?? []), { lock, keysOf }] };
}

/** Columns of a list of records, with their types. */
export type Columns = Readonly<Record<string, string>>;

/**
 * A list of records as SQL, with an array for each column, so that one statement fits any length. `at` is the index of
 * a record in the list, from 0.
 * The planner estimates few rows for such a list and, because of the condition, one, so it looks rows up by their key.
 * If it expected many rows, it would read whole tables while they are small, and would keep that plan for some time
 * after they have grown.
 */
export function listOf(name: string, columns: Columns): string {
  const types = Object.values(columns);
  const names = Object.keys(columns);
  const arrays = types.map((type, index) => `$${index + 1}::${isSimple(type) ? type : 'text'}[]`);
  const selected = names.map((column, index) => `${fromList(column, types[index]!)} as ${column}`);
  return `(select place::int - 1 as at, ${selected.join(', ')} from unnest(${arrays.join(', ')}) with ordinality as one(${names.join(', ')}, place)
    where place = place + 0) as ${name}`;
}

/** An array of arrays would need inner arrays of equal length. */
function isSimple(type: string): boolean {
  return type !== 'jsonb' && !type.endsWith('[]');
}

function fromList(column: string, type: string): string {
  if (type === 'jsonb') return `${column}::jsonb`;
  if (isSimple(type)) return column;
  return `case when ${column} is not null then array(select jsonb_array_elements_text(${column}::jsonb))::${type} end`;
}

/** Returns the values that go with `listOf`. A value that a record lacks is null. */
export function listValues(columns: Columns, records: readonly object[]): unknown[][] {
  return Object.entries(columns).map(([name, type]) => {
    const isText = !isSimple(type);
    return records.map((record) => {
      const value = (record as Record<string, unknown>)[name] ?? null;
      return isText && value !== null ? JSON.stringify(value) : value;
    });
  });
}

/**
 * Sends a statement at once and waits for its answer. pg copies a query that is given as an object of settings,
 * property by property; it sends a `Query` unchanged.
 */
export async function send(client: ClientBase, statement: Statement | string, values: unknown[]): Promise<QueryResult> {
  const isNamed = typeof statement !== 'string';
  const query = new pg.Query(isNamed ? statement.text : statement, values);
  try {
    return await new Promise<QueryResult>((resolve, reject) => {
      const callback = (error: Error | null, result: QueryResult) => (error ? reject(error) : resolve(result));
      client.query(Object.assign(query, { name: isNamed ? statement.name : undefined, callback }));
    });
  } catch (error) {
    // The stack of the caller, not of the code that read the answer.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}

const sentBy = new WeakMap<ClientBase, number>();

/** Returns how many statements a connection has sent since `gatherWrites`. */
export function statementsSentBy(client: ClientBase): number {
  return sentBy.get(client) ?? 0;
}

/**
 * Sends all statements of one turn of the event loop in one write. The system call costs more than everything else that
 * the client does for a statement, and the server wakes once for all of them. This delays nothing, because the write
 * happens before anything is read.
 */
export function gatherWrites(client: ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Writable } };
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  let isGathering = false;
  const gathered = (...args: unknown[]): unknown => {
    if (!isGathering) {
      isGathering = true;
      const { stream } = connection;
      stream.cork();
      process.nextTick(() => {
        isGathering = false;
        stream.uncork();
      });
    }
    sentBy.set(client, statementsSentBy(client) + 1);
    return query(...args);
  };
  Object.assign(client, { query: gathered });
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;

const due = new WeakMap<ClientBase, { at: number; gapMs: number }>();

/**
 * Renews the plans of a connection. A named statement is planned once per connection, for the tables as they are then.
 * A plan for empty tables reads the whole table, or all rows of a tenant. It would stay until Postgres analyses the
 * table, a minute and thousands of rows later.
 * Plans are therefore renewed one second after a connection's first use, then each time after twice as long, up to a
 * minute. The message is sent before the next statement.
 */
export function renewPlans(client: ClientBase, now = performance.now()): void {
  const next = due.get(client);
  if (!next) {
    due.set(client, { at: now + FIRST_MS, gapMs: FIRST_MS });
    return;
  }
  if (now < next.at) return;
  next.gapMs = Math.min(2 * next.gapMs, MOST_MS);
  next.at = now + next.gapMs;
  // If it fails, the next statement also fails.
  client.query('DISCARD PLANS').catch(() => undefined);
}

/** Closes a connection at once; statements that wait on it fail. `end` would wait for a peer that may be gone. */
export function cut(client: ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Thrown in tests only. In production the statement runs, and Postgres would detect an actual deadlock. */
export class LockOrderError extends Error {
  constructor(statement: string, lock: Lock, held: Lock) {
    super(`${statement} takes a lock on ${lock} while one on ${held} is held; the order is ${LOCK_ORDER.join(', ')}`);
    this.name = 'LockOrderError';
  }
}

/** The locks of one transaction that its statements declare. */
export class TransactionLocks {
  private readonly keys = new Map<Lock, Set<string>>();

  /** Called before a statement runs. Taking a lock again that is already held is allowed. */
  assertMayTake({ name, locks = [] }: Statement, values: readonly unknown[]): void {
    for (const { lock, keysOf } of locks) {
      if (keysOf(values).every((key) => this.keys.get(lock)?.has(key))) continue;
      const held = LOCK_ORDER.slice(LOCK_ORDER.indexOf(lock) + 1).find((later) => this.keys.has(later));
      if (held) throw new LockOrderError(name, lock, held);
    }
  }

  /** Called after it has run: a row that was found by another key is also known by its id from then on. */
  took({ locks = [] }: Statement, values: readonly unknown[], rows: readonly object[]): void {
    for (const { lock, keysOf } of locks) {
      const keys = this.keys.get(lock) ?? new Set();
      for (const key of keysOf(values)) keys.add(key);
      for (const row of rows) if ('id' in row && typeof row.id === 'string') keys.add(row.id);
      this.keys.set(lock, keys);
    }
  }
}

export const TRANSACTION_WATCH = Symbol('Nesting');

/**
 * Checks every transaction in tests. Nothing inside it may open another one, because that waits for a second
 * connection while it keeps the first; a pool of such transactions deadlocks. It must also take its locks in order.
 */
export interface TransactionWatch {
  within<T>(work: () => Promise<T>): Promise<T>;
  /** @throws Error inside an open transaction */
  assertOutside(): void;
  /** The locks of a new transaction; undefined if locks are not watched. */
  locks(): TransactionLocks | undefined;
}

/** Production does not watch transactions, and so pays nothing for it. */
export const NO_WATCH: TransactionWatch = {
  within: (work) => work(),
  assertOutside: () => undefined,
  locks: () => undefined,
};

export class TestTransactionWatch implements TransactionWatch {
  private readonly current = new AsyncLocalStorage<{ isOpen: boolean }>();

  async within<T>(work: () => Promise<T>): Promise<T> {
    const transaction = { isOpen: true };
    try {
      return await this.current.run(transaction, work);
    } finally {
      transaction.isOpen = false;
    }
  }

  assertOutside(): void {
    if (this.current.getStore()?.isOpen)
      throw new Error('cannot begin a transaction inside an open one: pass on its Tx, or begin after it has ended');
  }

  locks(): TransactionLocks {
    return new TransactionLocks();
  }
}

const NOW = prepared('transaction-now', 'select now() as now');

/** For whom a transaction acts: one tenant (row-level security shows only its rows) or the system (all rows). */
export type TxScope = { tenantId: string } | 'system';

/**
 * Answers statements: an open transaction, or `Database.lookups`, in which each statement is its own transaction. Both
 * see the data that is committed at the moment of the statement, and the transaction's own writes.
 */
export interface Reads {
  query<R = Record<string, unknown>>(statement: Statement, values?: unknown[]): Promise<R[]>;
  one<R = Record<string, unknown>>(statement: Statement, values?: unknown[]): Promise<R | undefined>;
  /** Returns the rows of these distinct keys, with a statement for `Database.find`. A key without a row is omitted. */
  find<R = Record<string, unknown>>(
    statement: Statement,
    keys: readonly string[],
    shared?: readonly string[],
  ): Promise<R[]>;
}

/**
 * An open transaction. It is the first argument of every method that writes, and must not be kept after its callback
 * has ended. `repository` is for plain reads and writes of a table, `query` and `one` for SQL that is worth its own
 * statement. All use the transaction's own connection.
 */
export class Tx implements Reads {
  private readonly followUps: (() => void)[] = [];
  private readonly enqueued: Promise<unknown>[] = [];

  constructor(
    readonly tenantId: string | null,
    private readonly runner: QueryRunner,
    private readonly client: PoolClient,
    /** In tests: the locks that it holds. */
    private readonly held?: TransactionLocks,
  ) {}

  /**
   * Returns TypeORM's repository of an entity, bound to this transaction. Use `find…`, `insert`, `update` and `delete`,
   * each with the tenant in its conditions. Do not use `save`: it reads before it writes, and overwrites changes made
   * between the two.
   */
  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.runner.manager.getRepository(entity);
  }

  /** The tenant of this transaction. @throws Error in a system transaction, which has none */
  get tenant(): string {
    if (this.tenantId === null) throw new Error('a system transaction has no tenant');
    return this.tenantId;
  }

  /** When this transaction began, by the clock that sets stored times. Use it to compute ages. */
  async now(): Promise<Date> {
    const row = await this.one<{ now: Date }>(NOW);
    return (row as { now: Date }).now;
  }

  /**
   * Calls `followUp` once the transaction has committed; never after a rollback. A process that dies in between never calls it, so use it only
   * to save time, for example to wake a task that also polls. It must not throw.
   */
  afterCommit(followUp: () => void): void {
    this.followUps.push(followUp);
  }

  /** Called by `Database`. */
  committed(): void {
    for (const followUp of this.followUps) followUp();
  }

  /**
   * Sends a statement whose rows are not needed, and does not wait for its answer. It shares a round trip with the next
   * statement, or with the commit if there is none. If it fails, the transaction fails with its error.
   * @param asSystem as in `lookAsSystem`
   */
  enqueue(statement: Statement, values: unknown[], asSystem = false): void {
    const sent = asSystem ? this.lookAsSystem(statement, values) : this.query(statement, values);
    // `answered` reports it.
    sent.catch(() => undefined);
    this.enqueued.push(sent);
  }

  /** Called by `Database`: waits for all enqueued statements. @throws the first error */
  async answered(): Promise<void> {
    for (const sent of this.enqueued) await sent;
  }

  async query<R = Record<string, unknown>>(statement: Statement | string, values: unknown[] = []): Promise<R[]> {
    if (!this.held || typeof statement === 'string') return this.send<R>(statement, values);
    this.held.assertMayTake(statement, values);
    const rows = await this.send<R & object>(statement, values);
    this.held.took(statement, values, rows);
    return rows;
  }

  /**
   * Reads rows of all tenants once, also inside a tenant's transaction, because a decision about one tenant may depend
   * on rows of others. Use the rows only for that decision, never in an answer.
   */
  async lookAsSystem<R = Record<string, unknown>>(statement: Statement, values: unknown[] = []): Promise<R[]> {
    if (this.tenantId === null) return this.query<R>(statement, values);
    // Sent together, so that nothing of this transaction runs between the two roles.
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

/** Settings of a transaction, which apply from its begin. */
export interface TxSettings {
  /** The most milliseconds to wait for a lock before the transaction fails. */
  lockWithinMs?: number;
  /**
   * Plans the statements once and not for their values. Otherwise Postgres keeps planning for values if those plans
   * were cheap while the tables were small.
   */
  hasOnePlan?: boolean;
}

/** Returns one message that opens a transaction under the scope's role and tenant. */
export function beginText(scope: TxScope, { lockWithinMs, hasOnePlan }: TxSettings = {}): string {
  const role =
    scope === 'system'
      ? 'SET LOCAL ROLE slipway_system'
      : `SET LOCAL ROLE slipway_tenant; SET LOCAL slipway.tenant = ${quotedTenant(scope.tenantId)}`;
  const limit = lockWithinMs === undefined ? '' : `; SET LOCAL lock_timeout = ${Math.ceil(lockWithinMs)}`;
  const plans = hasOnePlan ? '; SET LOCAL plan_cache_mode = force_generic_plan' : '';
  return `BEGIN; ${role}${limit}${plans}`;
}

/** Returns the id as a literal for SET, which takes no parameters; the pattern keeps it harmless. */
export function quotedTenant(tenantId: string): string {
  if (!/^[a-z0-9_]{1,64}$/.test(tenantId)) throw new Error('not a tenant id');
  return `'${tenantId}'`;
}
