/** How long it takes, in seconds. */
export async function seconds(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1_000;
}

/** Prints how far it is, again and again while the work goes on, and at its end. */
export async function reporting<T>(about: () => object, everyMs: number, work: () => Promise<T>): Promise<T> {
  const report = () => {
    try {
      print(about());
    } catch {
      // The run is ended by hand, and what this tells of has gone.
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

/** `run` for 1 to `count`, so many of them at once. */
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

/** Figures that have a bound, each printed as soon as it is measured: who ends the run early has seen what there was. */
export class Bounds {
  readonly missed: string[] = [];

  /** @param to `most` or `least` of it that is well */
  note(figure: string, measured: number, to: { most: number } | { least: number }): void {
    const isKept = 'most' in to ? measured <= to.most : measured >= to.least;
    if (!isKept) this.missed.push(figure);
    print({ figure, measured, ...to, is_kept: isKept });
  }
}
