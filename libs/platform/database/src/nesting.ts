import { AsyncLocalStorage } from 'node:async_hooks';
import { HeldLocks } from './held-locks.js';

export const NESTING = Symbol('Nesting');

/**
 * What tests watch of every transaction: that nothing inside of it opens another one, which waits for a second connection while
 * it keeps the first (a pool of such is a deadlock), and that it takes its locks in order.
 */
export interface Nesting {
  within<T>(work: () => Promise<T>): Promise<T>;
  /** @throws Error inside of a transaction that is open */
  assertOutside(): void;
  /** For a new transaction; undefined if nobody watches. */
  locks(): HeldLocks | undefined;
}

/** In production nobody watches, and nothing is paid for it. */
export const UNWATCHED: Nesting = { within: (work) => work(), assertOutside: () => undefined, locks: () => undefined };

export class WatchedNesting implements Nesting {
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

  locks(): HeldLocks {
    return new HeldLocks();
  }
}
