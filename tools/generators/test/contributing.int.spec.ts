import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';

jest.setTimeout(300_000);

const NX = 'nx/dist/bin/nx.js';
const CONTRIBUTING = readFileSync(new URL('../../../CONTRIBUTING.md', import.meta.url), 'utf8');
let workspace: WorkspaceCopy;

beforeAll(async () => {
  workspace = await WorkspaceCopy.make();
});
afterAll(() => workspace?.remove());

/** The commands that a reader would type: lines of `sh` blocks, and code in the text that begins like a command. */
const commands = [
  ...[...CONTRIBUTING.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block]) => block!.trim().split('\n')),
  ...[...CONTRIBUTING.matchAll(/`((?:npx|npm|node|\.ci)[ /][^`]+)`/g)].map(([, inline]) => inline!),
];

const textOf = (file: string) => readFile(path.join(workspace.dir, file), 'utf8');
const exists = (file: string) => expect([file, existsSync(path.join(workspace.dir, file))]).toEqual([file, true]);
const nx = (...args: string[]) => workspace.run(NX, ...args);

/** A reader who follows the page in a clone has these files, and their tests must pass. */
async function make(file: string, ...args: string[]): Promise<void> {
  if (!existsSync(path.join(workspace.dir, file))) await nx('g', ...args);
  exists(file);
}

async function hasScript(name: string): Promise<void> {
  expect(Object.keys(JSON.parse(await textOf('package.json')).scripts)).toContain(name);
}

/**
 * How each command is tested. A slow command is only planned, or checked for existence. If another check covers a
 * command, the entry says which.
 */
const WALK: Record<string, () => Promise<unknown> | void> = {
  // `.ci/run` begins with it.
  'npm ci': () => exists('package-lock.json'),
  'npx nx run @slipway/area-routing:test': async () => {
    const { tasks } = JSON.parse(await nx('run', '@slipway/area-routing:test', '--graph=stdout'));
    expect(Object.keys(tasks.tasks)).toContain('@slipway/area-routing:test');
  },
  'npx nx affected -t lint test': async () => {
    const files = '--files=libs/areas/routing/src/index.ts';
    const { tasks } = JSON.parse(await nx('affected', '-t', 'lint', 'test', files, '--graph=stdout'));
    const planned = Object.keys(tasks.tasks);
    expect(planned).toEqual(expect.arrayContaining(['@slipway/area-routing:test', '@slipway/api:test']));
    expect(planned).not.toContain('@slipway/contracts:test');
  },
  'npm test': () => hasScript('test'),
  // `.ci/nightly` runs it if Go is installed.
  'node tools/kube-testbed/build.mjs': () => exists('tools/kube-testbed/build.mjs'),
  'npm run format': async () => {
    await hasScript('format');
    await workspace.run('prettier/bin/prettier.cjs', '--check', 'CONTRIBUTING.md', 'package.json');
  },
  // The check of the document in `.ci/run` does the same.
  'npm run openapi': () => hasScript('openapi'),
  // The nightly part `python` generates and tests it.
  'npm run python-client': () => hasScript('python-client'),
  '.ci/run': () => exists('.ci/run'),
  '.ci/nightly': () => exists('.ci/nightly'),
  '.ci/weekly': () => exists('.ci/weekly'),
  '.ci/nightly --only': () => exists('.ci/nightly'),
  '.ci/nightly --only console': () => exists('apps/console'),
  'npm run test:stress': () => hasScript('test:stress'),
  'npm run test:stress -- outage --times 20 --load': async () => {
    await hasScript('test:stress');
    exists('apps/api/test/crashes/outage.e2e.spec.ts');
  },
  'node tools/mutation/dist/main.js routing': () => {
    exists('tools/mutation/dist/main.js');
    exists('libs/areas/routing/mutants.yaml');
  },
  'npx nx g area alerts': () => make('libs/areas/alerts', 'area', 'alerts'),
  'npx nx g operation alerts silence': () =>
    make('libs/areas/alerts/src/silence.operation.ts', 'operation', 'alerts', 'silence'),
  'npx nx g target slurm': () => make('libs/targets/slurm', 'target', 'slurm'),
  // Tests of tools/release cover its dry run and its whole run.
  'npx nx release <version> --skip-publish': () => exists('tools/release/version-actions.cjs'),
};

describe('CONTRIBUTING.md', () => {
  it.each([...new Set(commands)])('%s', async (command) => {
    const walk = WALK[command.trim()];
    if (!walk) throw new Error(`Nothing here walks the command ${command}.`);
    await walk();
  });

  it('names files that exist once its commands have run', () => {
    const named = [...CONTRIBUTING.matchAll(/`((?:apps|libs|tools)\/[\w./-]+)`/g)].map(([, file]) => file!);
    const linked = [...CONTRIBUTING.matchAll(/\]\(([^)#:]+)\)/g)].map(([, file]) => file!);
    expect(named.length + linked.length).toBeGreaterThan(10);
    for (const file of [...named, ...linked]) exists(file);
  });

  it('shows an operation that begins as the page says', async () => {
    expect(await textOf('libs/areas/alerts/src/silence.operation.ts')).toContain('defineOperation({');
  });
});
