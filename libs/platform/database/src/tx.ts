import { AsyncLocalStorage } from 'node:async_hooks';
import type { Writable } from 'node:stream';
import pg from 'pg';
import type { ClientBase, PoolClient, QueryResult } from 'pg';
import type { EntityTarget, ObjectLiteral, QueryRunner, Repository } from 'typeorm';

/**
 * The order in which every transaction takes row and advisory locks that several areas share. Whoever takes them in this order
 * cannot deadlock with anybody who does. A statement that takes one says so (`locking`), and in tests a transaction that goes
 * back in the list fails.
 *
 * What is not in the list is locked by one area only, which keeps an order of its own.
 */
export const LOCK_ORDER = [
  /** An Idempotency-Key: its request waits here for the one before. */
  'idempotency_key',
  /** The first lock of everything that changes a deployment. */
  'deployment',
  /** Decisions about a plan take turns. */
  'plan',
  /** A quota of a tenant: who adds to it counts after the one before. */
  'quota',
  /** What should run of a revision: holds, and the reconciler's changes. */
  'workload',
  /** The row of a durable operation: a commit of its worker, a cancel, a retry. */
  'operation',
  /** The end of an event stream. Always last, because the sequence it gives must become visible in commit order. */
  'event_stream',
] as const;

export type Lock = (typeof LOCK_ORDER)[number];

/**
 * A statement the server parses and plans once per connection. The name must belong to one text only,
 * so statements are made at module load, or once for each of a few kinds.
 */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** Made by `lookup`: may share a connection with reads of others. */
  readonly isLookup?: true;
  /** Made by `locking`: which locks of `LOCK_ORDER` it takes, in that order. */
  readonly locks?: readonly LockUse[];
}

interface LockUse {
  readonly lock: Lock;
  /** Which rows of that lock the values name. */
  readonly keysOf: (values: readonly unknown[]) => readonly string[];
}

const textByName = new Map<string, string>();

/** Registers a named statement. Throws when another text already has the name: Postgres would refuse it at run time. */
export function prepared(name: string, text: string): Statement {
  const known = textByName.get(name);
  if (known !== undefined && known !== text) throw new Error(`two statements are named ${name}`);
  textByName.set(name, text);
  return { name, text };
}

/**
 * A named statement that finds a few rows by key, at once: no locks, no writes, no functions that wait. `Database.read` sends
 * it over connections that all requests share, where a slow statement would hold up everybody behind it.
 */
export function lookup(name: string, text: string): Statement {
  return { ...prepared(name, text), isLookup: true };
}

/**
 * The keys of a look-up that is made for `Database.find`: `where id = any ${KEYS}`. Behind a select, where Postgres cannot count them: it
 * would take one plan for any number of keys to be dearer than one for this number, and plan anew each time, for more than the look-up costs.
 */
export const KEYS = '((select $1::text[])::text[])';

/**
 * A statement that takes a lock of the order, after those that it is said to take already. Its first value is the key, unless `keysOf` says otherwise.
 * @param keysOf which rows of that lock the values name: their ids, or what else tells one from another
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
 * A list of records as SQL, an array for each column: one statement whatever its length. `at` is the place of a record in the list, from 0.
 * The planner takes such a list for a few rows and, because of the condition, for one: so it looks rows up by their key. Told of many it
 * would read whole tables while these are small, and keep that plan for a while when they are not.
 */
export function listOf(name: string, columns: Columns): string {
  const types = Object.values(columns);
  const names = Object.keys(columns);
  const arrays = types.map((type, index) => `$${index + 1}::${isSimple(type) ? type : 'text'}[]`);
  const selected = names.map((column, index) => `${fromList(column, types[index]!)} as ${column}`);
  return `(select place::int - 1 as at, ${selected.join(', ')} from unnest(${arrays.join(', ')}) with ordinality as one(${names.join(', ')}, place)
    where place = place + 0) as ${name}`;
}

/** An array of arrays would have to be of one length. */
function isSimple(type: string): boolean {
  return type !== 'jsonb' && !type.endsWith('[]');
}

function fromList(column: string, type: string): string {
  if (type === 'jsonb') return `${column}::jsonb`;
  if (isSimple(type)) return column;
  return `case when ${column} is not null then array(select jsonb_array_elements_text(${column}::jsonb))::${type} end`;
}

/** The values that go with `listOf`. What a record leaves out is null. */
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
 * Sends a statement at once and waits for its answer. pg copies a query that is given as an object of settings property by property;
 * one that was made is sent as it is.
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
    // Where it was asked, not where the answer was read.
    Error.captureStackTrace(error as Error);
    throw error;
  }
}

/**
 * Statements that are sent in one turn of the event loop leave in one write: the system call costs more than all else that the
 * client does for a statement, and the server wakes once for all of them. Nothing waits longer: the write comes before anything is read.
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
    return query(...args);
  };
  Object.assign(client, { query: gathered });
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;

const due = new WeakMap<ClientBase, { at: number; gapMs: number }>();

/**
 * A named statement is planned once per connection, for tables as they are then. What was planned on empty ones reads all of a table, or all
 * of a tenant, and would do so until Postgres analyses the table, a minute and thousands of rows later. So plans are made anew: a second after
 * a connection's first use, then each time after twice as long, up to a minute. The message goes in front of whatever is sent next.
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
  // Where it fails, so does what is sent behind it.
  client.query('DISCARD PLANS').catch(() => undefined);
}

/** Takes a connection away at once; what waits on it fails. `end` would wait for a peer that may be gone. */
export function cut(client: ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/** Thrown in tests only: in production the statement runs, and Postgres would find a deadlock if it came to one. */
export class LockOrderError extends Error {
  constructor(statement: string, lock: Lock, held: Lock) {
    super(`${statement} takes a lock on ${lock} while one on ${held} is held; the order is ${LOCK_ORDER.join(', ')}`);
    this.name = 'LockOrderError';
  }
}

/** The locks of one transaction, as far as its statements say what they take. */
export class TransactionLocks {
  private readonly keys = new Map<Lock, Set<string>>();

  /** Before a statement runs. Taking again what is held already is no step back. */
  assertMayTake({ name, locks = [] }: Statement, values: readonly unknown[]): void {
    for (const { lock, keysOf } of locks) {
      if (keysOf(values).every((key) => this.keys.get(lock)?.has(key))) continue;
      const held = LOCK_ORDER.slice(LOCK_ORDER.indexOf(lock) + 1).find((later) => this.keys.has(later));
      if (held) throw new LockOrderError(name, lock, held);
    }
  }

  /** After it has run: a row that was asked for by another key is known by its id from then on. */
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
 * What tests watch of every transaction: that nothing inside of it opens another one, which waits for a second connection while
 * it keeps the first (a pool of such is a deadlock), and that it takes its locks in order.
 */
export interface TransactionWatch {
  within<T>(work: () => Promise<T>): Promise<T>;
  /** @throws Error inside of a transaction that is open */
  assertOutside(): void;
  /** For a new transaction; undefined if nobody watches. */
  locks(): TransactionLocks | undefined;
}

/** In production nobody watches, and nothing is paid for it. */
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
  private readonly followUps: (() => void)[] = [];
  private readonly enqueued: Promise<unknown>[] = [];

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
   * Sends a statement whose rows nobody needs, and does not wait for its answer: it shares a round trip with what is sent next, if need be with
   * the commit. If it fails, so does the transaction, with its error.
   */
  enqueue(statement: Statement, values: unknown[]): void {
    const sent = this.query(statement, values);
    // `answered` reports it.
    sent.catch(() => undefined);
    this.enqueued.push(sent);
  }

  /** Called by `Database`: waits for all that is enqueued. @throws the first error */
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
