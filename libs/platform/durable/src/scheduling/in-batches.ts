import { setTimeout as delay } from 'node:timers/promises';

/** What a batch may take: a transaction that is open for longer keeps dead rows of others. */
const BATCH_MS = 200;
const FIRST_ROWS = 500;
/** Where even fewer take as long, it is not the rows that do. */
const LEAST_ROWS = 200;
const MOST_ROWS = 5_000;

/**
 * Does a lot of work in small transactions, until nothing is left or the process stops: each batch as large as fits into a fifth of a second, and after
 * each a rest as long as it took, so that at most half of one connection is in use, however much there is.
 * @param batch does at most so many rows in a transaction of its own; resolves to whether there may be more
 */
export async function inBatches(batch: (rows: number) => Promise<boolean>, stopping?: AbortSignal): Promise<void> {
  for (let rows = FIRST_ROWS; !stopping?.aborted;) {
    const began = performance.now();
    if (!(await batch(rows))) return;
    const tookMs = performance.now() - began;
    // By halves and doubles: one batch that met a checkpoint says little about the next.
    const factor = Math.min(2, Math.max(0.5, BATCH_MS / tookMs));
    rows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.round(rows * factor)));
    await delay(tookMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}
