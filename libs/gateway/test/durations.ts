/** Returns the milliseconds that the work takes. */
export async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Returns the median: a single value may be high on a machine that also runs other tests. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

/** Returns the shortest of up to three attempts, in milliseconds. Stops at the first one below the limit. */
export async function shortestOf(limitMs: number, attempt: () => Promise<number>): Promise<number> {
  let shortest = Infinity;
  for (let tries = 0; shortest >= limitMs && tries < 3; tries += 1) shortest = Math.min(shortest, await attempt());
  return shortest;
}

/**
 * Returns a limit for a few requests and round trips to Postgres. It is higher only if one round trip takes long here.
 */
export const limitFrom = (limitMs: number, roundTripsMs: readonly number[]): number =>
  Math.max(limitMs, 10 * median(roundTripsMs));
