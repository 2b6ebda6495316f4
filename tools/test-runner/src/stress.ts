import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectsOf, runJest } from './commands.js';
import { ROOT, specsThatFit } from './projects.js';
import { TestServers } from './servers.js';
import { readTally, type Failure } from './tally.js';

// `npm run test:stress -- <part of a path>… [--times 20] [--load] [--workers 1]`: runs suites repeatedly, by default 20
// times. `--load` keeps two busy processes per core running at the same time. Prints how often each file passed. The
// exit status is 0 if every file passed every time.

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '20' },
    workers: { type: 'string', default: '1' },
    load: { type: 'boolean', default: false },
  },
});
const [times, workers] = [Number(values.times), Number(values.workers)];
const files = specsThatFit(['**/*.spec.ts']).filter((file) => positionals.some((part) => file.includes(part)));
if (files.length === 0 || !(times >= 1) || !(workers >= 1)) {
  console.error('usage: npm run test:stress -- <part of a path>… [--times 20] [--load] [--workers 1]');
  process.exit(2);
}

const busy: ChildProcess[] = [];
const passes = new Map(files.map((file) => [file, 0]));
const failures: (Failure & { run: number })[] = [];
const seconds: number[] = [];
const scratch = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-stress-'));
const servers = await TestServers.start();
try {
  if (values.load)
    for (let core = 0; core < os.availableParallelism() * 2; core += 1)
      busy.push(spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' }));
  const projects = projectsOf(files);
  for (let run = 1; run <= times; run += 1) {
    const startedAt = performance.now();
    const status = await runJest({ projects, files, workers, scratch }, servers.environment());
    seconds.push((performance.now() - startedAt) / 1000);
    const tally = readTally(scratch);
    failures.push(...tally.failures.map((failure) => ({ ...failure, run })));
    const failed = new Set(tally.failures.map(({ file }) => path.relative(ROOT, file)));
    const isBroken = status !== 0 && failed.size === 0;
    for (const file of files) if (!isBroken && !failed.has(file)) passes.set(file, (passes.get(file) ?? 0) + 1);
    console.log(`\nRun ${run} of ${times}: ${seconds.at(-1)?.toFixed(1)} s, ${failed.size} files failed`);
  }
} finally {
  for (const process of busy) process.kill('SIGKILL');
  await servers.stop();
  rmSync(scratch, { recursive: true });
}

for (const { run, file, name, message } of failures)
  console.log(`\nRun ${run}: ${path.relative(ROOT, file)}: ${name}\n  ${message.replaceAll('\n', '\n  ')}`);
console.log(`\nPassed, of ${times}${values.load ? ' under load' : ''}:`);
for (const [file, count] of passes) console.log(`  ${count} ${file}`);
console.log(`Seconds per run: ${Math.min(...seconds).toFixed(0)} to ${Math.max(...seconds).toFixed(0)}`);
process.exitCode = [...passes.values()].every((count) => count === times) ? 0 : 1;
