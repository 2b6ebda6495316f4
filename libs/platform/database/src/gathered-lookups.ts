import type { Statement } from './statement.js';
import type { TxScope } from './tx.js';

/** What one statement looks up at most; everybody waits for the last of its rows. */
const MAX_KEYS = 32;

type Read = (scope: TxScope, statement: Statement, values: unknown[]) => Promise<object[]>;

interface Asked {
  readonly row: Promise<object | undefined>;
  resolve(row: object | undefined): void;
  reject(error: unknown): void;
}

interface Batch {
  readonly scope: TxScope;
  readonly statement: Statement;
  /** Behind the keys: the same for all of them. */
  readonly shared: readonly string[];
  readonly asked: Map<string, Asked>;
}

/**
 * What requests look up by key in one turn of the event loop: the same of several is one statement over their keys, and the same key is
 * looked up once. Nothing is kept: each look-up is sent after all who asked for it have asked. Rows of two tenants never come by one statement.
 *
 * Where a statement fails that was of several, each key goes again on its own, so that what is wrong with one fails nobody else.
 */
export class GatheredLookups {
  private batches: Batch[] = [];
  /** Those that take more, by statement and tenant. */
  private readonly open = new Map<string, Batch>();

  constructor(private readonly read: Read) {}

  find(scope: TxScope, statement: Statement, key: string, shared: readonly string[]): Promise<object | undefined> {
    const batch = this.batchFor(scope, statement, shared);
    const asked = batch.asked.get(key) ?? newAsked();
    batch.asked.set(key, asked);
    return asked.row;
  }

  private batchFor(scope: TxScope, statement: Statement, shared: readonly string[]): Batch {
    const name = JSON.stringify([statement.name, scope === 'system' ? null : scope.tenantId, ...shared]);
    const open = this.open.get(name);
    if (open && open.asked.size < MAX_KEYS) return open;
    // Behind all requests that have arrived by now.
    if (this.batches.length === 0) setImmediate(() => this.sendAll());
    const batch: Batch = { scope, statement, shared, asked: new Map() };
    this.batches.push(batch);
    this.open.set(name, batch);
    return batch;
  }

  private sendAll(): void {
    const { batches } = this;
    this.batches = [];
    this.open.clear();
    for (const batch of batches) void this.send(batch);
  }

  private async send({ asked, ...how }: Batch): Promise<void> {
    try {
      const rows = await this.read(how.scope, how.statement, [[...asked.keys()], ...how.shared]);
      const byKey = new Map(rows.map((row) => [(row as { key: string }).key, row]));
      for (const [key, { resolve }] of asked) resolve(byKey.get(key));
    } catch (error) {
      if (asked.size === 1) for (const { reject } of asked.values()) reject(error);
      else for (const one of asked) void this.send({ ...how, asked: new Map([one]) });
    }
  }
}

function newAsked(): Asked {
  let settle!: Pick<Asked, 'resolve' | 'reject'>;
  const row = new Promise<object | undefined>((resolve, reject) => (settle = { resolve, reject }));
  return { row, ...settle };
}
