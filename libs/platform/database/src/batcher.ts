import { setImmediate as nextTurn } from 'node:timers/promises';

interface BatcherOptions<Item> {
  /** Most items of one batch. */
  most: number;
  /** Items of one key that wait at the same time are one item, and get one result. */
  keyOf?: (item: Item) => string;
  /** Whether an item may be in one batch with these. One that may not waits for a later batch. */
  mayJoin?: (item: Item, batch: readonly Item[]) => boolean;
  /** For how many milliseconds a batch waits for the one before it. By default batches do not wait for each other. */
  waitMs?: number;
}

/** Results in the order of the items. An `Error` among them fails its item alone. */
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
 * Runs items together that are added in one turn of the event loop, or while the batch before them runs. If a batch fails, each of its items runs
 * again alone, so an item that cannot be run fails no other.
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
      // After everything that is added in this turn, also because of the results of the batch before.
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

/** Resolves when the work has settled, which never rejects, or after so many milliseconds. */
async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([work, late]);
  clearTimeout(timer);
}
