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
  skipped: { file: string; name: string }[];
}

export function sumUp(lines: string): Tally {
  const total: Tally = { passed: 0, failed: 0, failures: [], skipped: [] };
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
 * @param runFailed the runner's own verdict: a project that died before Jest could count still fails, and no tests at all is no success.
 */
export function verdict(tally: Tally, runFailed: boolean): { line: string; exitCode: number } {
  const uncounted = tally.failed === 0 && (runFailed || tally.passed === 0) ? 1 : 0;
  const failed = tally.failed + uncounted;
  const skipped = tally.skipped.length > 0 ? `, ${tally.skipped.length} skipped` : '';
  return { line: `${tally.passed} passed, ${failed} failed${skipped}`, exitCode: failed > 0 ? 1 : 0 };
}
