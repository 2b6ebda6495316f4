import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Mutant } from './mutant-list.js';
import { CannotTry, chooseLists, sampleOf, tryLists, type Workplace } from './run.js';
import type { Verdict } from './trial.js';

const mutant = (id: string, rest: Partial<Mutant> = {}): Mutant => ({
  id,
  file: 'libs/x/src/x.ts',
  find: '1',
  replace: '2',
  specs: ['libs/x/src/x.spec.ts'],
  isBuilt: false,
  ...rest,
});

/** A fake workplace that records what is created and removed, and gives the configured answers. */
function workplace({
  outcome = 'caught',
  failure,
  ...broken
}: { outcome?: Verdict['outcome']; failure?: string } & Partial<Workplace> = {}) {
  const log: string[] = [];
  const step = (name: string) => async () => void log.push(name);
  const trial = {
    async passesUnchanged() {
      log.push('unchanged');
      return failure;
    },
    async verdictOn({ id }: Mutant): Promise<Verdict> {
      log.push(id);
      return { outcome, by: 'a test', seconds: 1 };
    },
  };
  const folders: Workplace = {
    setUp: step('set up'),
    tearDown: step('tear down'),
    async makeCopy() {
      log.push('copy');
      return { trial, remove: step('remove') };
    },
    ...broken,
  };
  return { log, folders };
}

const silent = { print: () => undefined };

describe('a run', () => {
  it('checks once whether the specs pass, tries each mutant, and leaves nothing behind', async () => {
    const { log, folders } = workplace();
    const lists = [{ library: 'libs/x', mutants: [mutant('a'), mutant('b'), mutant('c', { test: 'one' })] }];
    expect(await tryLists(lists, folders, silent)).toBe(0);
    expect(log).toEqual(['set up', 'copy', 'unchanged', 'a', 'b', 'unchanged', 'c', 'remove', 'tear down']);
  });

  it.each<[Verdict['outcome'], number]>([
    ['caught', 1],
    ['survived', 1],
    ['broken', 2],
  ])('counts results that differ from the list: all are %s', async (outcome, unexpected) => {
    const mutants = [mutant('a'), mutant('b', { survives: 'it is the same thing in other words' })];
    expect(await tryLists([{ library: 'libs/x', mutants }], workplace({ outcome }).folders, silent)).toBe(unexpected);
  });

  it('removes what it created if specs fail without any mutant', async () => {
    const { log, folders } = workplace({ failure: 'red' });
    const run = tryLists([{ library: 'libs/x', mutants: [mutant('a')] }], folders, silent);
    await expect(run).rejects.toThrow('libs/x/src/x.spec.ts fails without a mutant:\nred');
    expect(log).toEqual(['set up', 'copy', 'unchanged', 'remove', 'tear down']);
  });

  it('stops the server if no copy can be made', async () => {
    const { log, folders } = workplace({ makeCopy: () => Promise.reject(new Error('the disk is full')) });
    await expect(tryLists([{ library: 'libs/x', mutants: [] }], folders, silent)).rejects.toThrow('the disk is full');
    expect(log).toEqual(['set up', 'tear down']);
  });

  it('ends before the next mutant when it is stopped, and removes what it created', async () => {
    const stop = new AbortController();
    stop.abort(new Error('enough'));
    const { log, folders } = workplace();
    const run = tryLists([{ library: 'libs/x', mutants: [mutant('a')] }], folders, { ...silent, signal: stop.signal });
    await expect(run).rejects.toThrow('enough');
    expect(log).toEqual(['set up', 'copy', 'remove', 'tear down']);
  });
});

describe('the choice of lists', () => {
  let root: string;
  afterEach(() => rm(root, { recursive: true, force: true }));

  const workspace = async (find = '1') => {
    root = await mkdtemp(path.join(os.tmpdir(), 'mutation-lists-'));
    for (const name of ['x', 'y']) {
      const library = path.join(root, 'libs', name);
      await mkdir(path.join(library, 'src'), { recursive: true });
      await writeFile(path.join(library, 'src', 'a.ts'), 'export const a = 1;');
      await writeFile(path.join(library, 'src', `${name}.spec.ts`), '');
      const mutants = ['first', 'second'].map(
        (id) => `  - { id: ${id}, symbol: a, find: '${find}', replace: '2', specs: [${name}] }`,
      );
      await writeFile(path.join(library, 'mutants.yaml'), ['mutants:', ...mutants].join('\n'));
    }
  };
  const chosen = async (parts: string[], only?: string) =>
    (await chooseLists(root, parts, only)).map(({ library, mutants }) => [library, ...mutants.map(({ id }) => id)]);

  it('selects by a part of the library and of the id', async () => {
    await workspace();
    expect(await chosen([])).toEqual([
      ['libs/x', 'first', 'second'],
      ['libs/y', 'first', 'second'],
    ]);
    expect(await chosen(['s/y'])).toEqual([['libs/y', 'first', 'second']]);
    expect(await chosen(['libs/x'], 'sec')).toEqual([['libs/x', 'second']]);
  });

  it('is refused if nothing matches', async () => {
    await workspace();
    await expect(chosen(['libs/z'])).rejects.toThrow(CannotTry);
    await expect(chosen(['libs/x'], 'third')).rejects.toThrow(CannotTry);
  });

  it('is refused, before anything is created, if the code has changed', async () => {
    await workspace('9');
    await expect(chosen(['libs/y'])).rejects.toThrow(
      'libs/y first: libs/y/src/a.ts contains its text 0 times instead of once',
    );
  });
});

describe('a sample', () => {
  const lists = ['libs/x', 'libs/y'].map((library) => ({
    library,
    mutants: Array.from({ length: 50 }, (_, index) => mutant(`m${index}`)),
  }));
  const idsOf = (seed: number, count = 40) =>
    sampleOf(lists, count, seed).flatMap(({ library, mutants }) => mutants.map(({ id }) => `${library} ${id}`));

  it('has as many mutants as were requested, from several lists, each once', () => {
    const ids = idsOf(1);
    expect(new Set(ids).size).toBe(40);
    expect(new Set(ids.map((id) => id.slice(0, 6)))).toEqual(new Set(['libs/x', 'libs/y']));
    expect(idsOf(1, 1_000)).toHaveLength(100);
  });

  it('is the same for the same seed and another for another seed', () => {
    expect(idsOf(7)).toEqual(idsOf(7));
    expect(idsOf(7)).not.toEqual(idsOf(8));
  });
});
