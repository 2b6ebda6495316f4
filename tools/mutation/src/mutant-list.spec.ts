import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { problemsOf, readLists } from './mutant-list.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Every mutant runs for each release, so a list contains only those that would do the most harm. */
const MOST_MUTANTS = 300;

it('finds the symbol, the text and the specs of every listed mutant exactly once', async () => {
  const lists = await readLists(root);
  expect(lists.flatMap(({ problems }) => problems)).toEqual([]);
  const count = lists.flatMap(({ mutants }) => mutants).length;
  expect(count).toBeGreaterThan(0);
  expect(count).toBeLessThanOrEqual(MOST_MUTANTS);
});

it('requires a reason for each mutant that may survive', async () => {
  const survivors = (await readLists(root)).flatMap(({ mutants }) => mutants.filter(({ survives }) => survives));
  for (const { id, survives = '' } of survivors) expect([id, survives.length > 20]).toEqual([id, true]);
});

describe('a list whose code has changed', () => {
  let workspace: string;
  beforeEach(async () => {
    workspace = await mkdtemp(path.join(os.tmpdir(), 'slipway-mutants-'));
  });
  afterEach(() => rm(workspace, { recursive: true }));

  const write = async (file: string, text: string) => {
    await mkdir(path.join(workspace, path.dirname(file)), { recursive: true });
    await writeFile(path.join(workspace, file), text);
  };
  const list = (...lines: string[]) => write('libs/x/mutants.yaml', ['mutants:', ...lines].join('\n'));
  const problems = async () => (await readLists(workspace)).flatMap((one) => one.problems);

  it('finds its symbols and specs in other folders, and prefers its own library', async () => {
    await write('libs/x/src/deep/sum.ts', 'export const sum = 1;');
    await write('libs/y/src/sum.ts', 'export const sum = 2;');
    await write('apps/z/test/sums.spec.ts', '');
    await list('  - { id: a, symbol: sum, find: "1", replace: "3", specs: [sums] }');
    expect(await readLists(workspace)).toEqual([
      {
        library: 'libs/x',
        problems: [],
        mutants: [
          expect.objectContaining({
            file: 'libs/x/src/deep/sum.ts',
            specs: ['apps/z/test/sums.spec.ts'],
            replace: '3',
          }),
        ],
      },
    ]);
  });

  it('reports symbols, specs and texts that are missing or not unique', async () => {
    await write('libs/y/src/sum.ts', 'export const sum = 2;\nexport const two = 2;');
    await write('libs/z/src/sum.ts', 'export const sum = 2;');
    for (const folder of ['a', 'b']) await write(`libs/${folder}/src/sums.spec.ts`, '');
    await list(
      '  - { id: gone, symbol: nothing, find: "2", specs: [none] }',
      '  - { id: twice, symbol: sum, find: "2", specs: [sums] }',
      '  - { id: text, symbol: two, find: "2", specs: [a/src/sums] }',
      '  - { id: text, symbol: two, find: "3", replace: "3", specs: [] }',
    );
    expect(await problems()).toEqual([
      'libs/x gone: 0 files instead of one export nothing',
      'libs/x gone: 0 specs instead of one have the name none',
      'libs/x twice: 2 files instead of one export sum: libs/y/src/sum.ts, libs/z/src/sum.ts',
      'libs/x twice: 2 specs instead of one have the name sums: libs/a/src/sums.spec.ts, libs/b/src/sums.spec.ts',
      'libs/x text: libs/y/src/sum.ts contains its text 2 times instead of once',
      'libs/x text: is listed twice',
      'libs/x text: libs/y/src/sum.ts contains its text 0 times instead of once',
      'libs/x text: changes nothing',
      'libs/x text: names no spec',
    ]);
  });
});

it('refuses a mutant that does not parse, because its failure says nothing about the tests', () => {
  const specs = ['tools/mutation/src/mutant-list.spec.ts'];
  const find = 'export class CannotTry extends Error {}';
  const problems = (replace: string) =>
    problemsOf(root, {
      library: 'x',
      mutants: [{ id: 'broken', file: 'tools/mutation/src/run.ts', find, replace, specs, isBuilt: false }],
    });
  expect(problems('export class CannotTry extends {}')).toEqual([
    'x broken: its change is not valid TypeScript, so every test would fail',
  ]);
  expect(problems('export class CannotTry {}')).toEqual([]);
});
