import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { pathPattern, run } from './commands.js';
import { nightlySpecs } from './parts.js';
import { PROJECTS, ROOT } from './projects.js';
import { TestServers } from './servers.js';
import { printTests, sumUp, summary } from './tally.js';

// `npm test`, after the build: the tests of each project, through Nx. An unchanged project replays its cached result
// and counts. Arguments are passed to Nx. The last line of the output is `N passed, N failed`.

/** The file that the target `test` writes, so that Nx keeps it with the result: `outputs` in nx.json. */
const tallyOf = (project: string): string => path.join(ROOT, project, 'test-output/tally.json');

const nx = path.join(ROOT, 'node_modules', '.bin', 'nx');
if (!existsSync(nx)) throw new Error('nx is not installed: run `npm ci`');

for (const project of PROJECTS) rmSync(tallyOf(project), { force: true });
const nightly = nightlySpecs();
let exitCode = 1;
let missingServers: string[] = [];
try {
  const servers = await TestServers.start();
  missingServers = servers.missing;
  try {
    exitCode = await run(
      nx,
      [
        'run-many',
        '-t',
        'test',
        '--parallel=2',
        '--output-style=stream',
        // `npm run build` has just built everything.
        '--exclude-task-dependencies',
        '--nxBail=false',
        ...process.argv.slice(2),
        '--',
        '--forceExit',
        '--maxWorkers=2',
        `--testPathIgnorePatterns=${nightly.map(pathPattern).join('|')}`,
      ],
      servers.environment(),
    );
  } finally {
    await servers.stop();
  }
} catch (error) {
  console.error(error);
}

const tallies = PROJECTS.map(tallyOf).filter((file) => existsSync(file));
const tally = sumUp(tallies.map((file) => readFileSync(file, 'utf8')).join('\n'));
console.log(`\nOnly in .ci/nightly: ${nightly.length} files (tools/test-runner/src/parts.ts lists them).`);
printTests(tally, missingServers);
const { line, exitCode: status } = summary(tally, exitCode !== 0);
console.log(`\n${line}`);
process.exitCode = status;
