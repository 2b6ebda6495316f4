/** How long it takes, in seconds. */
export async function seconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1_000;
}

/** `run` for 1 to `count`, so many of them at once. */
export async function inTurns(count: number, atOnce: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await run((next += 1));
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** The smallest value that so large a share of them does not exceed. @throws Error where there are none */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

/** One line of JSON, without digits that say nothing. */
export function print(figures: object): void {
  const text = JSON.stringify(figures, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value));
  process.stdout.write(`${text}\n`);
}
