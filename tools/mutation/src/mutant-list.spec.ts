import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { problemsOf, readLists, scoreOf } from './mutant-list.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('finds the text of every listed mutant exactly once, and its specs', async () => {
  const lists = await readLists(root);
  expect(lists.length).toBeGreaterThan(0);
  expect(lists.flatMap((list) => problemsOf(root, list))).toEqual([]);
});

it("finds each list's score in its library's README, and the reason of each survivor", async () => {
  for (const list of await readLists(root)) {
    const readme = readFileSync(path.join(root, list.library, 'README.md'), 'utf8');
    expect([list.library, readme.includes(scoreOf(list))]).toEqual([list.library, true]);
    for (const { id, survives } of list.mutants.filter((mutant) => mutant.survives !== undefined)) {
      expect([id, readme.includes(id), (survives ?? '').length > 20]).toEqual([id, true, true]);
    }
  }
});

it('names what has moved away from under a mutant', () => {
  const mutant = {
    id: 'gone',
    file: 'tools/mutation/package.json',
    find: 'no such text',
    replace: '',
    specs: [],
    isBuilt: false,
  };
  expect(problemsOf(root, { library: 'x', mutants: [mutant, { ...mutant, file: 'nowhere.ts' }] })).toEqual([
    'x gone: its text stands 0 times in tools/mutation/package.json',
    'x gone: names no spec',
    'x gone: stands twice',
    'x gone: nowhere.ts does not exist',
    'x gone: names no spec',
  ]);
});

it('refuses a mutant that does not parse: that it is noticed says nothing about the tests', () => {
  const specs = ['tools/mutation/src/mutant-list.spec.ts'];
  const find = 'export class CannotTry extends Error {}';
  const problems = (replace: string) =>
    problemsOf(root, {
      library: 'x',
      mutants: [{ id: 'broken', file: 'tools/mutation/src/run.ts', find, replace, specs, isBuilt: false }],
    });
  expect(problems('export class CannotTry extends {}')).toEqual([
    'x broken: what it makes is no TypeScript, which any test would notice',
  ]);
  expect(problems('export class CannotTry {}')).toEqual([]);
});
