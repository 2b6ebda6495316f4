/** Runs for about `ms` milliseconds and returns its rate per second. */
export type Side = (ms: number) => Promise<number>;

export interface Slices {
  rounds: number;
  sliceMs: number;
}

/**
 * Runs sides in alternating slices, so that load from other programs affects all of them. Returns one value for each
 * round.
 */
export async function interleave<Name extends string>(
  { rounds, sliceMs }: Slices,
  sides: Record<Name, Side>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(sides) as Name[];
  const seen = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  // The first slice of each side includes connections, plans and compilation.
  for (let round = -1; round < rounds; round += 1) {
    for (const name of names) {
      const value = await sides[name](sliceMs);
      if (round >= 0) seen[name].push(value);
    }
  }
  return seen;
}

/** @param q from 0 to 1 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)] as number;
  const high = sorted[Math.ceil(at)] as number;
  return low + (high - low) * (at - Math.floor(at));
}

/** Runs `count` loops that call `work` until the time is over. Returns the calls per second. */
export async function runLoops(count: number, ms: number, work: (loop: number) => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: count }, async (_, loop) => {
      while (performance.now() - begin < ms) {
        await work(loop);
        done += 1;
      }
    }),
  );
  return (done * 1_000) / (performance.now() - begin);
}
