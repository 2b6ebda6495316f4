import { Batcher } from './batcher.js';
import type { Statement } from './statement.js';
import type { TxScope } from './tx.js';

/** Most keys of one statement, because every look-up waits for its last row. */
const MOST_KEYS = 32;

type Read = (scope: TxScope, statement: Statement, values: unknown[]) => Promise<object[]>;
type LookupBatcher = Batcher<string, object | undefined>;

/**
 * Look-ups by key of one turn of the event loop: those with the same statement and tenant are one statement over their keys, and the same key is
 * looked up once. Nothing is kept: each look-up is sent after all who wait for it have asked. Rows of two tenants never come by one statement.
 */
export class GatheredLookups {
  /** Those that take more keys, by statement and tenant. */
  private readonly open = new Map<string, LookupBatcher>();

  constructor(private readonly read: Read) {}

  /** @param shared values after the keys, the same for all of one statement */
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
    const batcher: LookupBatcher = new Batcher(run, { most: MOST_KEYS, keyOf: (key) => key });
    this.open.set(name, batcher);
    return batcher;
  }
}
