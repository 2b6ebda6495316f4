import { readFile, readlink } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';

jest.setTimeout(300_000);

const NX = 'nx/dist/bin/nx.js';
let workspace: WorkspaceCopy;
let before: { registry: string; lock: { packages: Record<string, unknown> } };

const textOf = (file: string) => readFile(path.join(workspace.dir, file), 'utf8');
const added = (earlier: string, later: string) =>
  later.split('\n').filter((line) => !earlier.split('\n').includes(line));

beforeAll(async () => {
  workspace = await WorkspaceCopy.make();
  before = {
    registry: await textOf('libs/registry/src/areas.ts'),
    lock: JSON.parse(await textOf('package-lock.json')),
  };
  await workspace.run(NX, 'g', 'area', 'generated-alerts');
  await workspace.run(NX, 'g', 'operation', 'generated-alerts', 'alert-escalation');
});

afterAll(() => workspace?.remove());

it('adds one line to the registry', async () => {
  expect(added(before.registry, await textOf('libs/registry/src/areas.ts'))).toEqual([
    "export * as generatedAlerts from '@slipway/area-generated-alerts';",
  ]);
});

it('links the package as npm would, and adds it to the lock file', async () => {
  expect(await readlink(path.join(workspace.dir, 'node_modules/@slipway/area-generated-alerts'))).toBe(
    '../../libs/areas/generated-alerts',
  );
  const { packages } = JSON.parse(await textOf('package-lock.json'));
  expect(Object.keys(packages).filter((key) => !(key in before.lock.packages))).toEqual([
    'libs/areas/generated-alerts',
    'node_modules/@slipway/area-generated-alerts',
  ]);
});

it('writes an area that builds, including the registry', async () => {
  await workspace.run('typescript/bin/tsc', '-b', 'libs/registry/tsconfig.lib.json');
  expect(await textOf('libs/areas/generated-alerts/dist/index.js')).toContain('GeneratedAlertsModule');
});

it('writes an area that passes the linter and the formatter, and creates no import cycle', async () => {
  await workspace.run('eslint/bin/eslint.js', 'libs/areas/generated-alerts', 'libs/registry');
  await workspace.run('prettier/bin/prettier.cjs', '--check', 'libs/areas/generated-alerts', 'libs/registry');
  await workspace.run('dependency-cruiser/bin/dependency-cruise.mjs', 'libs/areas/generated-alerts', 'libs/registry');
});

it('writes routes and a table that the suites of the api cover: who may call, what is audited, what TypeORM maps, what /docs shows', async () => {
  await workspace.run('typescript/bin/tsc', '-b', 'apps/api');
  const output = await workspace.run(
    'jest/bin/jest.js',
    '-c',
    'apps/api/jest.config.mjs',
    '--verbose',
    '/(authorization|audit|docs).e2e|/schema.int',
  );
  expect(output).toMatch(/Test Suites: 4 passed, 4 total/);
});

it('writes specs that pass, including those of the operation', async () => {
  const output = await workspace.run('jest/bin/jest.js', '-c', 'libs/areas/generated-alerts/jest.config.mjs');
  expect(output).toMatch(/Test Suites: 3 passed, 3 total/);
});

it('refuses an area that exists', async () => {
  await expect(workspace.run(NX, 'g', 'area', 'generated-alerts')).rejects.toThrow(
    /libs\/areas\/generated-alerts already exists/,
  );
});
