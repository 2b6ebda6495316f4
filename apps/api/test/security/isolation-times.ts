/* The measures of the suites of isolation. */

/** @returns when all requests that began within `ms` have ended */
export async function steadily(perSecond: number, ms: number, one: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const all: Promise<void>[] = [];
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = performance.now() - began;
      while (all.length < (Math.min(elapsed, ms) * perSecond) / 1_000) all.push(one());
      if (elapsed < ms) return;
      clearInterval(timer);
      resolve();
    }, 5);
  });
  await Promise.all(all);
}

/** Returns the smallest value that this share of the values does not exceed, rounded. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? Number.NaN);
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);
