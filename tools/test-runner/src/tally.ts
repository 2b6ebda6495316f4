import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './projects.js';

/** Counts of one Jest run, as `jest-tally-reporter.mjs` writes them. */
interface TallyLine {
  passed: number;
  failed: number;
  failures?: Failure[];
  skipped: { file: string; name: string }[];
}

export interface Failure {
  file: string;
  name: string;
  /** The start of the message. */
  message: string;
}

export interface Tally {
  passed: number;
  failed: number;
  failures: Failure[];
  skipped: { file: string; name: string }[];
}

export function sumUp(lines: string): Tally {
  return combineTallies(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as TallyLine),
  );
}

export function combineTallies(tallies: readonly TallyLine[]): Tally {
  const total: Tally = { passed: 0, failed: 0, failures: [], skipped: [] };
  for (const { passed, failed, failures = [], skipped } of tallies) {
    total.passed += passed;
    total.failed += failed;
    total.failures.push(...failures);
    total.skipped.push(...skipped);
  }
  return total;
}

/** The counts that `runJest` wrote to this folder since the last call. */
export function readTally(scratch: string): Tally {
  const file = path.join(scratch, 'tally.jsonl');
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
  rmSync(file, { force: true });
  return sumUp(lines);
}

/**
 * @param runFailed the result of the runner: a project that ended before Jest could count still fails, and a run
 * without tests is not a success
 */
export function summary(tally: Tally, runFailed: boolean): { line: string; exitCode: number } {
  const uncounted = tally.passed === 0 || (runFailed && tally.failed === 0) ? 1 : 0;
  const failed = tally.failed || uncounted;
  const skipped = tally.skipped.length > 0 ? `, ${tally.skipped.length} skipped` : '';
  return { line: `${tally.passed} passed, ${failed} failed${skipped}`, exitCode: failed > 0 ? 1 : 0 };
}

/** The remaining failures of a completely broken run are not repeated. */
const MAX_SHOWN = 20;

/** Skipped and failed tests, at the end of the output, because many readers keep only that. */
export function printTests(tally: Tally, missingServers: readonly string[]): void {
  if (tally.skipped.length > 0) {
    console.log(`\nSkipped:${missingServers.map((reason) => ` (${reason})`).join('')}`);
    for (const { file, name } of tally.skipped) console.log(`  ${path.relative(ROOT, file)}: ${name}`);
  }
  if (tally.failures.length > 0) console.log('\nFailed:');
  for (const { file, name, message } of tally.failures.slice(0, MAX_SHOWN))
    console.log(`  ${path.relative(ROOT, file)}: ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
}
