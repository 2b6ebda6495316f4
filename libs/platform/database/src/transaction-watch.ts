import { AsyncLocalStorage } from 'node:async_hooks';
import { type Lock, LOCK_ORDER, type Statement } from './statement.js';

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
      throw new Error('a second transaction inside an open one: hand its Tx on, or do this after it has ended');
  }

  locks(): TransactionLocks {
    return new TransactionLocks();
  }
}
