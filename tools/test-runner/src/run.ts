import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLANE_VARIABLE } from '@slipway/kube-testbed';
import { childEnvironment } from '@slipway/platform-config';
import { findKube, type TestKube } from './kube.js';
import { findRedis } from './redis.js';
import { sumUp, verdict, withSecondTries, type Tally } from './tally.js';

// `npm test`, after the build: every project's tests against one Postgres and, if there is one each, one Redis and one Kubernetes.
// Its very last line is `N passed, N failed`, which a reader and a pipeline can rely on.
const root = fileURLToPath(new URL('../../../', import.meta.url));
const inTools = (file: string): string => path.join(root, 'tools', 'test-runner', file);

const { default: setUp } = (await import(inTools('jest-global-setup.mjs'))) as { default(): Promise<void> };
const { default: tearDown } = (await import(inTools('jest-global-teardown.mjs'))) as { default(): Promise<void> };

/** A run that is broken as a whole need not repeat all of it. */
const MAX_SHOWN = 20;

/** Set by `.ci/run`: what failed beside others gets a second try alone, and is named where it passes. */
const triesAgain = childEnvironment()['SLIPWAY_TEST_AGAIN'] === '1';

const scratch = mkdtempSync(path.join(os.tmpdir(), 'slipway-test-run-'));
const tallyFile = path.join(scratch, 'tally.jsonl');
writeFileSync(tallyFile, '');

const redis = await findRedis(childEnvironment()['REDIS_URL']);
let kube: TestKube | undefined;
let runFailed = true;
let tally = sumUp('');
try {
  await setUp();
  console.log(redis.note);
  kube = await findKube(childEnvironment());
  console.log(kube.note);
  runFailed = (await runProjects()) !== 0;
  tally = readTally();
  if (triesAgain) tally = await withSecondTries(tally, passesAlone);
} catch (error) {
  console.error(error);
} finally {
  await tearDown();
  await redis.stop();
  await kube?.stop();
}

rmSync(scratch, { recursive: true });
if (tally.skipped.length > 0) {
  const whys = [...(redis.url ? [] : [redis.note]), ...(kube && !kube.folder ? [kube.note] : [])];
  console.log(`\nSkipped:${whys.map((why) => ` (${why})`).join('')}`);
  for (const { file, name } of tally.skipped) console.log(`  ${path.relative(root, file)}: ${name}`);
}
// Where only the end of a run is kept, its end says what broke.
show('Flaky: failed beside others, passed alone', tally.flaky);
show('Failed', tally.failures);
const { line, exitCode } = verdict(tally, runFailed);
console.log(`\n${line}`);
process.exitCode = exitCode;

function show(title: string, failures: Tally['failures']): void {
  if (failures.length > 0) console.log(`\n${title}:`);
  for (const { file, name, message } of failures.slice(0, MAX_SHOWN))
    console.log(`  ${path.relative(root, file)}: ${name}\n    ${message.replaceAll('\n', '\n    ')}`);
}

function readTally(): Tally {
  return sumUp(readFileSync(tallyFile, 'utf8'));
}

async function passesAlone(file: string): Promise<boolean> {
  console.log(`\nAgain, alone: ${path.relative(root, file)}`);
  let project = path.dirname(file);
  while (!existsSync(path.join(project, 'jest.config.mjs'))) project = path.dirname(project);
  const jest = ['--experimental-vm-modules', '--no-warnings', path.join(root, 'node_modules/jest/bin/jest.js')];
  const options = ['-c', path.join(project, 'jest.config.mjs'), '--forceExit', '--runTestsByPath', file];
  return (await exitCodeOf(process.execPath, [...jest, ...options])) === 0;
}

function runProjects(): Promise<number> {
  // Jest's own reporters stay; ours counts. `forceExit`: a handle that a test left open must not hold up the whole run.
  // Results of Nx's cache would not be counted, so it is left out. Everything was built right before, which need not be asked again.
  const nx = path.join(root, 'node_modules', '.bin', 'nx');
  if (!existsSync(nx)) throw new Error('nx is not installed: run `npm ci`');
  const reporter = path.join(scratch, 'reporter.mjs');
  writeFileSync(
    reporter,
    `import Reporter from ${JSON.stringify(inTools('jest-tally-reporter.mjs'))};\nexport default class extends Reporter { constructor(config) { super(config, { file: ${JSON.stringify(tallyFile)} }); } }\n`,
  );
  const only = process.argv.slice(2);
  return exitCodeOf(nx, [
    'run-many',
    '-t',
    'test',
    // With a third project beside them, tests of times fail on two cores, and the whole run is no faster.
    '--parallel=2',
    '--output-style=stream',
    '--skip-nx-cache',
    '--exclude-task-dependencies',
    '--nxBail=false',
    ...only,
    '--',
    '--forceExit',
    '--reporters=default',
    `--reporters=${reporter}`,
  ]);
}

function exitCodeOf(program: string, args: string[]): Promise<number> {
  const child = spawn(program, args, {
    cwd: root,
    stdio: 'inherit',
    env: childEnvironment({
      NX_DAEMON: 'false',
      NX_TUI: 'false',
      REDIS_URL: redis.url,
      [PLANE_VARIABLE]: kube?.folder,
      FORCE_COLOR: process.stdout.isTTY ? undefined : '0',
    }),
  });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}
