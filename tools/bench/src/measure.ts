/** Runs for about `ms` and returns how many things it did per second. */
export type Side = (ms: number) => Promise<number>;

/** Rates of two sides whose slices take turns, so that a neighbour's load hits both; medians, and the ratio of these. */
export async function compare(
  options: { rounds: number; sliceMs: number },
  ours: Side,
  limit: Side,
): Promise<{ ours: number; limit: number; ratio: number }> {
  // The first slice of each pays for connections, plans and compilation.
  await ours(options.sliceMs);
  await limit(options.sliceMs);
  const seen = { ours: [] as number[], limit: [] as number[] };
  for (let round = 0; round < options.rounds; round += 1) {
    seen.ours.push(await ours(options.sliceMs));
    seen.limit.push(await limit(options.sliceMs));
  }
  const rates = { ours: quantile(seen.ours, 0.5), limit: quantile(seen.limit, 0.5) };
  return { ...rates, ratio: rates.ours / rates.limit };
}

export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

/** `lanes` loops that call `work` until the time is over; things done per second. */
export async function lanes(count: number, ms: number, work: (lane: number) => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: count }, async (_, lane) => {
      while (performance.now() - begin < ms) {
        await work(lane);
        done += 1;
      }
    }),
  );
  return (done * 1_000) / (performance.now() - begin);
}

export const perSecond = (rate: number): string => `${rate >= 100 ? Math.round(rate) : rate.toFixed(1)}/s`;
export const inMs = (ms: number): string => `${ms.toFixed(1)} ms`;
export const asRatio = (ratio: number): string => ratio.toFixed(2);
