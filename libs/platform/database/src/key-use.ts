import type { Tx } from './tx.js';

/** Where a key of the ring is in use beyond what it has sealed, and nothing can be sealed anew: what was given out goes on with it. */
export interface KeyUse {
  /** What uses it, for people: `engines`. */
  readonly noun: string;
  readonly table: string;
  /** The key's id; null where a row uses none. */
  readonly column: string;
}

export async function countUses(tx: Tx, { table, column }: KeyUse): Promise<{ keyId: string; uses: number }[]> {
  return tx.query(
    `select ${column} as "keyId", count(*)::int as uses from ${table} where ${column} is not null group by 1 order by 1`,
  );
}
