import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runJest } from './commands.js';
import { nightlySpecs } from './parts.js';
import { GROUPS, type GroupName } from './projects.js';
import { TestServers } from './servers.js';
import { printTests, readTally, summary } from './tally.js';

// The tests of `.ci/run`: all projects, one Jest process per group, without cached results. `merge.js [group…]` The
// last line of the output is `N passed, N failed`.

const cores = os.availableParallelism();
/** Many library suites wait for a timer or a process, so there are more workers than cores. A suite of `end-to-end` is several processes. */
const WORKERS: Record<GroupName, number> = { libraries: cores * 3, 'end-to-end': cores + 1 };

const names = (process.argv.length > 2 ? process.argv.slice(2) : Object.keys(GROUPS)) as GroupName[];
const unknown = names.filter((name) => !(name in GROUPS));
if (unknown.length > 0)
  throw new Error(`unknown group: ${unknown.join(', ')}; the groups are ${Object.keys(GROUPS).join(', ')}`);

const scratch = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-run-'));
const without = nightlySpecs();
const times: string[] = [];
let isFailed = false;
let missingServers: string[] = [];
try {
  const servers = await TestServers.start();
  missingServers = servers.missing;
  try {
    for (const name of names) {
      const startedAt = performance.now();
      const status = await runJest(
        { projects: GROUPS[name], without, workers: WORKERS[name], scratch },
        servers.environment(),
      );
      times.push(`${name} ${Math.round((performance.now() - startedAt) / 1000)} s`);
      isFailed ||= status !== 0;
    }
  } finally {
    await servers.stop();
  }
} catch (error) {
  console.error(error);
  isFailed = true;
}

const tally = readTally(scratch);
rmSync(scratch, { recursive: true });
console.log(`\nOnly in .ci/nightly: ${without.length} files (tools/test-runner/src/parts.ts lists them).`);
printTests(tally, missingServers);
console.log(`\nTimes: ${times.join(', ')}`);
const { line, exitCode } = summary(tally, isFailed);
console.log(`\n${line}`);
process.exitCode = exitCode;
