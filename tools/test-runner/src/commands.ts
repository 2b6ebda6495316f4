import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { PROJECTS, ROOT } from './projects.js';

/** Runs a program in the root of the workspace with our output, and forwards signals to it. @returns its exit status */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, args, { cwd: ROOT, stdio: 'inherit', env });
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward);
  return new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  }).finally(() => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, forward);
  });
}

export interface JestRun {
  /** Folders of projects, relative to the root. */
  projects: readonly string[];
  /** Only these spec files, relative to the root. */
  files?: readonly string[];
  /** All spec files except these. */
  without?: readonly string[];
  /** Only tests whose title contains this text. */
  title?: string;
  workers: number;
  /** A folder for the files of this run; afterwards, `tally.jsonl` in it contains the counts. */
  scratch: string;
}

/** Runs one Jest process for several projects, so that suites that wait and suites that compute share the cores. */
export function runJest({ projects, files, without = [], title, workers, scratch }: JestRun, env: NodeJS.ProcessEnv) {
  const tools = path.join(ROOT, 'tools', 'test-runner');
  const config = {
    rootDir: ROOT,
    projects: projects.map((project) => path.join(ROOT, project)),
    testSequencer: path.join(tools, 'jest-longest-first.mjs'),
    reporters: ['default', [path.join(tools, 'jest-tally-reporter.mjs'), { file: path.join(scratch, 'tally.jsonl') }]],
    maxWorkers: workers,
    // Jest reads this setting only here, and not from the configuration of a project.
    testTimeout: 60_000,
    // A worker keeps every module that a spec file loaded. Garbage collection costs more than a new process.
    workerIdleMemoryLimit: '600MB',
  };
  // Jest applies a configuration on its command line to each project as well, but a configuration file only to the run.
  const configFile = path.join(scratch, 'jest.config.json');
  writeFileSync(configFile, JSON.stringify(config));
  return run(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--no-warnings',
      path.join(ROOT, 'node_modules/jest/bin/jest.js'),
      `--config=${configFile}`,
      // A handle that a test left open must not block the whole run.
      '--forceExit',
      ...(title === undefined ? [] : [`--testNamePattern=${title}`]),
      ...(without.length === 0 ? [] : [`--testPathIgnorePatterns=${without.map(pathPattern).join('|')}`]),
      ...(files === undefined ? [] : ['--runTestsByPath', ...files]),
    ],
    { ...env, SLIPWAY_TEST_GROUPED: '1' },
  );
}

export function pathPattern(file: string): string {
  return `/${file.replaceAll('.', String.raw`\.`)}$`;
}

/** The projects that these spec files belong to. */
export function projectsOf(files: readonly string[]): string[] {
  const projects = files.map((file) => {
    const project = PROJECTS.find((folder) => file.startsWith(`${folder}/`));
    if (project === undefined) throw new Error(`${file} does not belong to a project with tests`);
    return project;
  });
  return [...new Set(projects)];
}
