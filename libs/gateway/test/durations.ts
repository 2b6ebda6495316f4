/** Milliseconds that this takes. */
export async function durationOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** The one in the middle: a single one may be long on a machine that runs other tests as well. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
}

/** The shortest of up to three tries, each of which returns its milliseconds. The first one below the limit is the last one. */
export async function shortestOf(limitMs: number, attempt: () => Promise<number>): Promise<number> {
  let shortest = Infinity;
  for (let tries = 0; shortest >= limitMs && tries < 3; tries += 1) shortest = Math.min(shortest, await attempt());
  return shortest;
}

/** A limit for what takes a few requests and round trips to Postgres: higher only if one of these takes long here. */
export const limitFrom = (limitMs: number, roundTripsMs: readonly number[]): number =>
  Math.max(limitMs, 10 * median(roundTripsMs));
