import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { childEnvironment } from '@slipway/platform-config';
import { projectsOf, run, runJest } from './commands.js';
import { chooseParts, specsOf, type CommandStep, type Part, type Step, type TestStep } from './parts.js';
import { TestServers } from './servers.js';
import { combineTallies, printTests, readTally, summary, type Tally } from './tally.js';

// `.ci/nightly` and `.ci/weekly`, after the build:
// `levels.js nightly|weekly [--only kubernetes,console] [--list] [--needs]`. Parts run one after the other, and one
// that fails does not stop the next. The last line of the output is `N passed, N failed`.

/** These levels start servers as images do. The merge level starts bundles of them, which takes half the time. */
const SHIPPED = { SLIPWAY_TEST_SHIPPED: '1' };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, list: { type: 'boolean' }, needs: { type: 'boolean' } },
});
const parts = chooseParts(positionals[0], values.only?.split(','));

if (values.needs) {
  console.log([...new Set(parts.flatMap(({ needs = [] }) => needs))].join(' '));
} else if (values.list) {
  for (const { name, what } of parts) console.log(`${name}: ${what}`);
} else {
  process.exitCode = await runParts();
}

interface Result extends Tally {
  part: Part;
  seconds: number;
}

async function runParts(): Promise<number> {
  const results: Result[] = [];
  for (const part of parts) {
    console.log(`\n=== ${part.name}: ${part.what}`);
    const startedAt = performance.now();
    const tally = await runPart(part).catch((error: unknown) => {
      console.error(error);
      return { ...combineTallies([]), failed: 1 };
    });
    results.push({ part, seconds: Math.round((performance.now() - startedAt) / 1000), ...tally });
    console.log(`=== ${part.name}: ${tally.failed === 0 ? 'passed' : 'FAILED'} in ${results.at(-1)?.seconds} s`);
  }
  for (const result of results) printTests(result, []);
  console.log('\nParts:');
  for (const { part, seconds, passed, failed, skipped } of results)
    console.log(`  ${part.name}: ${passed} passed, ${failed} failed, ${skipped.length} skipped, ${seconds} s`);
  const { line, exitCode } = summary(combineTallies(results), false);
  console.log(`\n${line}`);
  return exitCode;
}

/** A step that runs no test counts as failed. */
async function runPart(part: Part): Promise<Tally> {
  const only = specsOf(part);
  const steps: readonly Step[] = [...(only.length > 0 ? [{ files: only, env: part.env }] : []), ...(part.steps ?? [])];
  const tallies: Tally[] = [];
  for (const step of steps) tallies.push('command' in step ? await runCommand(part, step) : await runTests(step));
  return combineTallies(tallies);
}

async function runCommand(part: Part, { command: [program = '', ...args], env }: CommandStep): Promise<Tally> {
  const status = await run(program, args, childEnvironment(env));
  if (status === 0) return { ...combineTallies([]), passed: 1 };
  const message = `exit status ${status}`;
  return {
    ...combineTallies([]),
    failed: 1,
    failures: [{ file: part.name, name: [program, ...args].join(' '), message }],
  };
}

async function runTests({ files, title, env }: TestStep): Promise<Tally> {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-run-'));
  const servers = await TestServers.start();
  try {
    const status = await runJest(
      { projects: projectsOf(files), files, title, workers: os.availableParallelism(), scratch },
      servers.environment({ ...SHIPPED, ...env }),
    );
    const tally = readTally(scratch);
    const isUncounted = tally.failed === 0 && (status !== 0 || tally.passed === 0);
    return isUncounted ? { ...tally, failed: 1 } : tally;
  } finally {
    await servers.stop();
    rmSync(scratch, { recursive: true });
  }
}
