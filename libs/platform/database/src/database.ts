import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Pool, PoolClient } from 'pg';
import { FairShare } from '@slipway/platform-bounds';
import { readGauges } from '@slipway/platform-observability';
import { DataSource } from 'typeorm';
import { Notifications } from './notifications.js';
import { PipelinedReader } from './pipelined-reader.js';
import {
  beginText,
  cut,
  gatherWrites,
  type Reads,
  renewPlans,
  type Statement,
  statementsSentBy,
  TRANSACTION_WATCH,
  type TransactionWatch,
  Tx,
  type TxScope,
  type TxSettings,
} from './tx.js';

interface BatcherOptions<Item> {
  /** The most items of one batch. */
  most: number;
  /** Items with the same key that wait at the same time count as one item and get one result. */
  keyOf?: (item: Item) => string;
  /** Whether an item may join a batch with these items. If not, it waits for a later batch. */
  mayJoin?: (item: Item, batch: readonly Item[]) => boolean;
  /** The most milliseconds that a batch waits for the previous one. By default batches do not wait for each other. */
  waitMs?: number;
}

/** Returns results in the order of the items. An `Error` among them fails only its item. */
type BatchRun<Item, Result> = (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;

interface BatchEntry<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Thrown by a run whose items must not be tried again: all of them fail with the reason. */
export class BatchFailed extends Error {
  constructor(readonly reason: unknown) {
    super('the batch failed as a whole');
  }
}

/**
 * Runs items together if they are added in one turn of the event loop, or while the previous batch runs. If a batch
 * fails, each of its items runs again alone, so an invalid item fails no other.
 */
export class Batcher<Item, Result> {
  private waiting: BatchEntry<Item, Result>[] = [];
  private readonly openByKey = new Map<string, Promise<Result>>();
  private isFlushing = false;

  constructor(
    private readonly run: BatchRun<Item, Result>,
    private readonly options: BatcherOptions<Item>,
  ) {}

  add(item: Item): Promise<Result> {
    const key = this.options.keyOf?.(item);
    const open = key === undefined ? undefined : this.openByKey.get(key);
    if (open) return open;
    const result = new Promise<Result>((resolve, reject) => this.waiting.push({ item, resolve, reject }));
    if (key !== undefined) this.openByKey.set(key, result);
    if (!this.isFlushing) void this.flush();
    return result;
  }

  private async flush(): Promise<void> {
    const { waitMs } = this.options;
    this.isFlushing = true;
    while (this.waiting.length > 0) {
      // Waits for everything that is added in this turn of the event loop, including additions caused by the results of
      // the previous batch.
      await nextTurn();
      if (waitMs !== undefined) await settledWithin(this.runBatch(this.take()), waitMs);
      else while (this.waiting.length > 0) void this.runBatch(this.take());
    }
    this.isFlushing = false;
  }

  private take(): BatchEntry<Item, Result>[] {
    const { most, mayJoin, keyOf } = this.options;
    const batch: BatchEntry<Item, Result>[] = [];
    const items: Item[] = [];
    this.waiting = this.waiting.filter((entry) => {
      const { item } = entry;
      if (items.length === most || (mayJoin && !mayJoin(item, items))) return true;
      items.push(item);
      batch.push(entry);
      if (keyOf) this.openByKey.delete(keyOf(item));
      return false;
    });
    return batch;
  }

  /** Never rejects. */
  private async runBatch(batch: readonly BatchEntry<Item, Result>[]): Promise<void> {
    try {
      const results = await this.run(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index];
        if (result instanceof Error) reject(result);
        else resolve(result as Result);
      }
    } catch (error) {
      const [first, ...others] = batch;
      if (error instanceof BatchFailed) for (const { reject } of batch) reject(error.reason);
      else if (others.length === 0) first?.reject(error);
      else await Promise.all(batch.map((one) => this.runBatch([one])));
    }
  }
}

/** Resolves when the work has settled (it never rejects), or after this many milliseconds. */
async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** The most keys of one request that are combined with those of others. A page of keys gets its own statement. */
const FEW_KEYS = 4;

/** Called after each use of a connection, in the context of its caller: the bytes that it read, and its statements. */
type UseListener = (bytes: number, statements: number) => void;

/** As long as the pool waits for a new connection. */
const CONNECTION_WAIT_MS = 5_000;

/** No connection of the pool became free in time. SQLSTATE 53300, as Postgres reports it. */
class NoConnectionError extends Error {
  readonly code = '53300';

  constructor() {
    super('timeout exceeded when waiting for a connection of the pool');
  }
}

/** Thrown inside a dry run to leave it: everything is rolled back, and the callback's value is still returned. */
class DryRunRollback {
  constructor(readonly value: unknown) {}
}

/**
 * The only access to Postgres. Every transaction takes a role for its duration that row-level security knows
 * (`slipway_tenant` or `slipway_system`), so that a forgotten `where tenant_id = …` returns nothing instead of
 * everything.
 */
@Injectable()
export class Database implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('database');
  private readonly pooled = new Set<PoolClient>();
  private readonly poolSize: number;
  private readonly connections: FairShare;
  private noteUse: UseListener = () => undefined;
  private readonly lookedUp = new GatheredLookups((scope, statement, values) => this.read(scope, statement, values));

  constructor(
    private readonly dataSource: DataSource,
    private readonly notifications: Notifications,
    private readonly reader: PipelinedReader,
    @Inject(TRANSACTION_WATCH) private readonly nesting: TransactionWatch,
  ) {
    const pool = (this.dataSource.driver as unknown as { master: unknown }).master as Pool;
    this.followPool(pool);
    this.poolSize = pool.options.max;
    this.connections = shareConnections(this.poolSize);
    this.notifications.onSilence(() => this.cutAll());
  }

  /**
   * Runs `fn` in one READ COMMITTED transaction and commits it. An exception rolls back and is rethrown. With `dryRun`
   * everything is rolled back and `fn`'s value is returned: each check was made, and nothing was written.
   */
  async tx<T>(
    scope: TxScope,
    fn: (tx: Tx) => Promise<T>,
    options: Pick<TxSettings, 'hasOnePlan'> & { dryRun?: boolean } = {},
  ): Promise<T> {
    return this.onConnection(async (client, tx) => {
      // Not awaited on its own: with a pipelined client it is sent with the first statement of `fn`.
      const begun = client.query(beginText(scope, options));
      begun.catch(() => undefined);
      try {
        const value = await this.nesting.within(() => fn(tx));
        const ended = options.dryRun ? undefined : client.query('COMMIT');
        ended?.catch(() => undefined);
        await begun;
        await tx.answered();
        if (!ended) throw new DryRunRollback(value);
        const committed = await ended;
        // If a statement failed and the callback swallowed its error, COMMIT "succeeds" as a ROLLBACK.
        if (committed.command !== 'COMMIT') throw new Error('Postgres rolled back the transaction');
        tx.committed();
        return value;
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined);
        if (error instanceof DryRunRollback) return error.value as T;
        // After a failed statement all later ones also fail, and their errors say only that.
        await tx.answered();
        throw error;
      }
    }, scope);
  }

  /** Runs one statement in its own transaction, sent and answered in one round trip. Returns its rows. */
  async read<R = Record<string, unknown>>(
    scope: TxScope,
    statement: Statement | string,
    values: unknown[] = [],
  ): Promise<R[]> {
    const shared =
      typeof statement !== 'string' && statement.isLookup
        ? await this.reader.read<R>(scope, statement, values)
        : undefined;
    return shared ?? this.once<R>(scope, statement, values);
  }

  /**
   * Runs one statement that may write, in its own transaction, sent and committed in one round trip. Returns its rows.
   * An error with the severity `ERROR` comes from Postgres, and nothing was committed. After any other error the
   * statement may have been committed. With `lockWithinMs` the commit may take longer than that: a commit that notifies
   * waits for the previous one, which is not a lock on a row.
   */
  once<R = Record<string, unknown>>(
    scope: TxScope,
    statement: Statement | string,
    values: unknown[] = [],
    settings: TxSettings = {},
  ): Promise<R[]> {
    return this.onConnection(async (client, tx) => {
      const [begun, rows, committed] = await Promise.allSettled([
        client.query(beginText(scope, settings)),
        tx.query<R>(statement, values),
        client.query(settings.lockWithinMs === undefined ? 'COMMIT' : 'SET LOCAL lock_timeout TO DEFAULT; COMMIT'),
      ]);
      for (const result of [begun, rows, committed]) {
        if (result.status === 'fulfilled') continue;
        await client.query('ROLLBACK').catch(() => undefined);
        throw result.reason;
      }
      return (rows as PromiseFulfilledResult<R[]>).value;
    }, scope);
  }

  /**
   * Returns the row of one key, by a look-up over a list. `KEYS` are the keys (`$1`), the shared values follow, and the
   * column `key` of a row says to which key it belongs. Look-ups in one turn of the event loop are sent as one
   * statement, so callers may share a row and must not change it.
   */
  find<R>(scope: TxScope, statement: Statement, key: string, shared: readonly string[] = []): Promise<R | undefined> {
    return this.lookedUp.find(scope, statement, key, shared) as Promise<R | undefined>;
  }

  /** Like `read`, for code that combines several reads and writes nothing: it holds no connection between them. */
  lookups(scope: TxScope): Reads {
    const query = <R>(statement: Statement, values?: unknown[]) => this.read<R>(scope, statement, values);
    return {
      query,
      one: async <R>(statement: Statement, values?: unknown[]) => (await query<R>(statement, values))[0],
      find: async <R>(statement: Statement, keys: readonly string[], shared: readonly string[] = []) => {
        if (keys.length > FEW_KEYS) return query<R>(statement, [keys, ...shared]);
        const rows = await Promise.all(keys.map((key) => this.find<R>(scope, statement, key, shared)));
        return rows.filter((row) => row !== undefined) as R[];
      },
    };
  }

  /** If the peer is dead, each idle connection would cost a time-out of its own, one request after the other. */
  private cutAll(): void {
    this.logger.warn('Postgres does not respond; all connections are reopened');
    for (const client of this.pooled) cut(client);
    this.reader.cut();
  }

  private followPool(pool: Pool): void {
    for (const event of ['connect', 'acquire'] as const)
      pool.on(event, (client) => {
        if (!this.pooled.has(client)) {
          this.pooled.add(client);
          gatherWrites(client);
        }
        renewPlans(client);
      });
    pool.on('remove', (client) => this.pooled.delete(client));
  }

  /**
   * Calls `onPayload` for each NOTIFY on the channel, over the single LISTEN connection of this process. Notifications
   * sent while that connection was away are lost; `onReconnect` must then check what they would have reported. Returns
   * a function that ends the subscription.
   */
  listen(
    channel: string,
    onPayload: (payload: string) => void,
    onReconnect?: () => void,
  ): Promise<() => Promise<void>> {
    return this.notifications.listen(channel, onPayload, onReconnect);
  }

  /** Registers the one listener to uses of connections. */
  onUse(listener: UseListener): void {
    this.noteUse = listener;
  }

  /** Resolves when Postgres answers a query, rejects otherwise. */
  async ping(): Promise<void> {
    await this.dataSource.query('select 1');
  }

  onApplicationBootstrap(): void {
    this.notifications.start();
    readGauges(
      'pool',
      {
        slipway_database_pool_in_use: ['Connections of the pool that transactions of this process use'],
        slipway_database_pool_waiting: ['Transactions of this process that wait for a connection of the pool'],
        slipway_database_pool_limit: ['Most connections of the pool of this process'],
      },
      async () => ({
        slipway_database_pool_in_use: this.connections.inUse,
        slipway_database_pool_waiting: this.connections.waitingCount,
        slipway_database_pool_limit: this.poolSize,
      }),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.all([this.notifications.close(), this.reader.close()]);
  }

  private async onConnection<T>(work: (client: PoolClient, tx: Tx) => Promise<T>, scope: TxScope): Promise<T> {
    this.nesting.assertOutside();
    const tenantId = scope === 'system' ? null : scope.tenantId;
    return this.connections.run(tenantId ?? undefined, 1, async () => {
      const runner = this.dataSource.createQueryRunner();
      const client = (await runner.connect()) as PoolClient;
      const [bytes, statements] = [bytesReadBy(client), statementsSentBy(client)];
      // TypeORM must join our transaction: without this flag `manager.save` would open and commit its own.
      (runner as { isTransactionActive: boolean }).isTransactionActive = true;
      try {
        return await work(client, new Tx(tenantId, runner, client, this.nesting.locks()));
      } finally {
        (runner as { isTransactionActive: boolean }).isTransactionActive = false;
        this.noteUse(bytesReadBy(client) - bytes, statementsSentBy(client) - statements);
        await runner.release();
      }
    });
  }
}

/**
 * Next to other tenants, a tenant uses at most half of the pool, also for transactions that wait for a lock. Work of
 * the process itself may use all of it.
 */
function shareConnections(size: number): FairShare {
  const bounds = { total: size, alone: size, contended: Math.max(1, Math.floor(size / 2)) };
  return new FairShare({ ...bounds, mostWaiting: 10_000, waitMs: CONNECTION_WAIT_MS }, () => new NoConnectionError());
}

function bytesReadBy(client: PoolClient): number {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream.bytesRead;
}

/** The usual most keys of one statement, because every look-up waits for its last row. */
const MOST_KEYS = 32;

type LookupRead = (scope: TxScope, statement: Statement, values: unknown[]) => Promise<object[]>;
type LookupBatcher = Batcher<string, object | undefined>;

/**
 * Combines look-ups by key of one turn of the event loop. Look-ups with the same statement and tenant become one
 * statement over their keys, and each key is looked up once.
 * Nothing is cached: a statement is sent after all its callers have called `find`. Rows of two tenants never come from
 * one statement.
 */
export class GatheredLookups {
  /** The batches that accept more keys, by statement and tenant. */
  private readonly open = new Map<string, LookupBatcher>();

  constructor(private readonly read: LookupRead) {}

  /** @param shared values after the keys, the same for all callers of one statement */
  find(scope: TxScope, statement: Statement, key: string, shared: readonly string[]): Promise<object | undefined> {
    const name = JSON.stringify([statement.name, scope === 'system' ? null : scope.tenantId, ...shared]);
    const batcher = this.open.get(name) ?? this.newBatcher(name, scope, statement, shared);
    return batcher.add(key);
  }

  private newBatcher(name: string, scope: TxScope, statement: Statement, shared: readonly string[]): LookupBatcher {
    const run = async (keys: readonly string[]) => {
      this.open.delete(name);
      const rows = await this.read(scope, statement, [keys, ...shared]);
      const byKey = new Map(rows.map((row) => [(row as { key: string }).key, row]));
      return keys.map((key) => byKey.get(key));
    };
    const batcher: LookupBatcher = new Batcher(run, { most: statement.mostKeys ?? MOST_KEYS, keyOf: (key) => key });
    this.open.set(name, batcher);
    return batcher;
  }
}
