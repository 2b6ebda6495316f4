/** Measures a duration in seconds. */
export async function seconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1_000;
}

/** Prints the progress periodically while the work continues, and once at its end. */
export async function reporting<T>(about: () => object, everyMs: number, work: () => Promise<T>): Promise<T> {
  const report = () => {
    try {
      print(about());
    } catch {
      // The run is being stopped, and the objects of this report are gone.
    }
  };
  const timer = setInterval(report, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    report();
  }
}

/** Calls `run` for 1 to `count`, at most `atOnce` at the same time. */
export async function runConcurrently(
  count: number,
  atOnce: number,
  run: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await run((next += 1));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** The smallest value that this share of the values does not exceed. @throws Error if there are no values */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!;
}

/** Prints one line of JSON, without insignificant digits. */
export function print(figures: object): void {
  const text = JSON.stringify(figures, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value));
  process.stdout.write(`${text}\n`);
}

/**
 * Figures with a limit. Each is printed as soon as it is measured, so that an interrupted run has shown its results.
 */
export class Bounds {
  readonly missed: string[] = [];

  /** @param to the limit: at `most` or at `least` this value */
  note(figure: string, measured: number, to: { most: number } | { least: number }): void {
    const isKept = 'most' in to ? measured <= to.most : measured >= to.least;
    if (!isKept) this.missed.push(figure);
    print({ figure, measured, ...to, is_kept: isKept });
  }
}
