import { LOCK_ORDER, type Lock } from './lock-order.js';
import type { Statement } from './statement.js';

/** Thrown in tests only: in production the statement runs, and Postgres would find a deadlock if it came to one. */
export class LockOrderError extends Error {
  constructor(statement: string, lock: Lock, held: Lock) {
    super(`${statement} takes a lock on ${lock} while one on ${held} is held; the order is ${LOCK_ORDER.join(', ')}`);
    this.name = 'LockOrderError';
  }
}

/** The locks of one transaction, as far as its statements say what they take. */
export class HeldLocks {
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
