/** One line per Jest run, as `jest-tally-reporter.mjs` writes it. */
interface TallyLine {
  passed: number;
  failed: number;
  failures?: Failure[];
  skipped: { file: string; name: string }[];
}

export interface Failure {
  file: string;
  name: string;
  /** The beginning of it. */
  message: string;
}

export interface Tally {
  passed: number;
  failed: number;
  failures: Failure[];
  /** Failed beside others and passed alone. */
  flaky: Failure[];
  skipped: { file: string; name: string }[];
}

/** A run in which more files fail is broken, not unlucky. */
const MOST_AGAIN = 5;

export function sumUp(lines: string): Tally {
  const total: Tally = { passed: 0, failed: 0, failures: [], flaky: [], skipped: [] };
  for (const line of lines.split('\n').filter(Boolean)) {
    const { passed, failed, failures = [], skipped } = JSON.parse(line) as TallyLine;
    total.passed += passed;
    total.failed += failed;
    total.failures.push(...failures);
    total.skipped.push(...skipped);
  }
  return total;
}

/**
 * Gives the files that failed a second try, one after the other and with nothing beside them.
 *
 * @param passesAlone whether all tests of a file pass now
 */
export async function withSecondTries(tally: Tally, passesAlone: (file: string) => Promise<boolean>): Promise<Tally> {
  const files = [...new Set(tally.failures.map(({ file }) => file))];
  if (files.length > MOST_AGAIN) return tally;
  const sound = new Set<string>();
  for (const file of files) if (await passesAlone(file)) sound.add(file);
  const flaky = tally.failures.filter(({ file }) => sound.has(file));
  return {
    ...tally,
    passed: tally.passed + flaky.length,
    failed: tally.failed - flaky.length,
    failures: tally.failures.filter(({ file }) => !sound.has(file)),
    flaky,
  };
}

/**
 * @param runFailed the runner's own verdict: a project that died before Jest could count still fails, and no tests at all is no success.
 */
export function verdict(tally: Tally, runFailed: boolean): { line: string; exitCode: number } {
  const explained = tally.failed > 0 || tally.flaky.length > 0;
  const uncounted = tally.passed === 0 || (runFailed && !explained) ? 1 : 0;
  const failed = tally.failed || uncounted;
  const skipped = tally.skipped.length > 0 ? `, ${tally.skipped.length} skipped` : '';
  return { line: `${tally.passed} passed, ${failed} failed${skipped}`, exitCode: failed > 0 ? 1 : 0 };
}
