import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from '@jest/globals';
import { chooseParts, nightlySpecs, PARTS } from './parts.js';
import { expressionOf, GROUPS, PROJECTS, ROOT, specsThatFit } from './projects.js';

it('every pattern of a part matches a spec file, so that a file that moves is not lost', () => {
  const patterns = PARTS.flatMap(({ only = [], steps = [] }) => [
    ...only,
    ...steps.flatMap((step) => ('files' in step ? step.files : [])),
  ]);
  expect(patterns.filter((pattern) => specsThatFit([pattern]).length === 0)).toEqual([]);
});

it('no spec file belongs to two parts', () => {
  const files = PARTS.flatMap(({ only = [] }) => specsThatFit(only));
  expect(files.filter((file, index) => files.indexOf(file) !== index)).toEqual([]);
  expect(nightlySpecs()).toEqual([...files].sort());
});

it('every spec file that needs a control plane belongs to a part', () => {
  const isIn = new Set(
    PARTS.flatMap(({ only = [], steps = [] }) => [
      ...only,
      ...steps.flatMap((step) => ('files' in step ? step.files : [])),
    ]).flatMap((pattern) => specsThatFit([pattern])),
  );
  const needing = specsThatFit(['libs/**/*.spec.ts', 'apps/**/*.spec.ts', 'tools/**/*.spec.ts']).filter((file) =>
    /kube-testbed(\/jest)?'|kubeIt\(/.test(readFileSync(path.join(ROOT, file), 'utf8')),
  );
  expect(needing.length).toBeGreaterThan(20);
  expect(needing.filter((file) => !isIn.has(file))).toEqual([]);
});

it('every folder of a part exists, and CONTRIBUTING has a row for the part', () => {
  const folders = PARTS.flatMap((part) => part.folders).filter((folder) => !folder.includes('*'));
  expect(folders.filter((folder) => !existsSync(path.join(ROOT, folder)))).toEqual([]);
  const rows = PARTS.filter(({ level }) => level === 'nightly').map(
    ({ name, folders, what }) => `| ${folders.map((folder) => `\`${folder}\``).join(', ')} | \`${name}\` | ${what} |`,
  );
  const contributing = readFileSync(path.join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  expect(contributing).toContain(rows.join('\n'));
});

it('every project with tests is in one group', () => {
  expect(Object.values(GROUPS).flat().sort()).toEqual(PROJECTS);
  expect(PROJECTS).toEqual(expect.arrayContaining(['apps/api', 'libs/contracts', 'libs/areas/rollouts', 'tools/lint']));
});

it('chooses parts by name and refuses an unknown one', () => {
  expect(chooseParts('nightly', ['console', 'fuzz']).map(({ name }) => name)).toEqual(['console', 'fuzz']);
  expect(() => chooseParts('nightly', ['soak'])).toThrow('unknown part: soak; the parts are kubernetes, ');
  expect(() => chooseParts('hourly')).toThrow('unknown level: hourly');
});

it.each([
  ['a/*.spec.ts', 'a/b.spec.ts', true],
  ['a/*.spec.ts', 'a/b/c.spec.ts', false],
  ['a/**/c.spec.ts', 'a/b/c.spec.ts', true],
  ['a/**/c.spec.ts', 'a/c.spec.ts', true],
  ['a/b.spec.ts', 'a/bxspec.ts', false],
])('%s and %s: %s', (pattern, file, fits) => {
  expect(expressionOf(pattern).test(file)).toBe(fits);
});
