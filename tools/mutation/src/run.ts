import { createHash } from 'node:crypto';
import path from 'node:path';
import { readLists, type Mutant, type MutantList } from './mutant-list.js';
import type { Trial, Verdict } from './trial.js';

/** Thrown if the lists or the specs do not allow a meaningful run. */
export class CannotTry extends Error {}

type Tries = Pick<Trial, 'passesUnchanged' | 'verdictOn'>;

/** The environment of a run: a server for the databases of the specs, and a copy of the workspace. */
export interface Workplace {
  setUp(): Promise<void>;
  makeCopy(): Promise<{ trial: Tries; remove(): Promise<void> }>;
  /** Called even if the set-up failed. */
  tearDown(): Promise<void>;
}

interface RunOptions {
  signal?: AbortSignal;
  print?: (line: string) => void;
}

/**
 * The lists whose library path contains one of the parts, with the mutants whose id contains `only`.
 * @throws CannotTry if there are none, or if a mutant's symbol, text or spec is not found exactly once
 */
export async function chooseLists(root: string, parts: readonly string[], only?: string): Promise<MutantList[]> {
  const lists = (await readLists(root))
    .filter(({ library }) => parts.length === 0 || parts.some((part) => library.includes(part)))
    .map((list) => ({ ...list, mutants: list.mutants.filter(({ id }) => !only || id.includes(only)) }))
    .filter(({ mutants }) => mutants.length > 0);
  if (lists.length === 0)
    throw new CannotTry('No mutants match. Lists of mutants are the files mutants.yaml next to a package.json.');
  const problems = lists.flatMap((list) => list.problems);
  if (problems.length > 0) throw new CannotTry(problems.join('\n'));
  return lists;
}

/** @returns `count` mutants of all lists, chosen by the seed; the same seed and lists give the same mutants */
export function sampleOf(lists: readonly MutantList[], count: number, seed: number): MutantList[] {
  const ranked = lists
    .flatMap(({ library, mutants }) => mutants.map(({ id }) => `${library} ${id}`))
    .map((key) => ({ key, rank: createHash('sha256').update(`${seed} ${key}`).digest('hex') }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const drawn = new Set(ranked.slice(0, count).map(({ key }) => key));
  return lists
    .map((list) => ({ ...list, mutants: list.mutants.filter(({ id }) => drawn.has(`${list.library} ${id}`)) }))
    .filter(({ mutants }) => mutants.length > 0);
}

/**
 * Tries all mutants one after the other and prints each result. Nothing is left behind, whatever happens.
 * @returns the number of results that differ from their list
 * @throws CannotTry if specs fail without any mutant; the reason of the signal, before the next mutant
 */
export async function tryLists(
  lists: readonly MutantList[],
  workplace: Workplace,
  { signal, print = console.log }: RunOptions = {},
): Promise<number> {
  try {
    await workplace.setUp();
    const copy = await workplace.makeCopy();
    try {
      let unexpected = 0;
      for (const list of lists) unexpected += await tryList(list, copy.trial, { signal, print });
      return unexpected;
    } finally {
      await copy.remove();
    }
  } finally {
    await workplace.tearDown();
  }
}

async function tryList(
  { library, mutants }: MutantList,
  trial: Tries,
  { signal, print }: RunOptions & { print: (line: string) => void },
): Promise<number> {
  print(`\n${library}: ${mutants.length} mutants`);
  const sound = new Set<string>();
  let unexpected = 0;
  for (const mutant of mutants) {
    signal?.throwIfAborted();
    const key = JSON.stringify([mutant.specs, mutant.test]);
    const failure = sound.has(key) ? undefined : await trial.passesUnchanged(mutant);
    if (failure !== undefined)
      throw new CannotTry(`${mutant.specs.join(', ')} fails without a mutant:\n${failure.slice(-4_000)}`);
    sound.add(key);
    const verdict = await trial.verdictOn(mutant);
    if (!isAsExpected(mutant, verdict)) unexpected += 1;
    print(lineOf(mutant, verdict));
  }
  print(`${library}: ${mutants.length - unexpected} of ${mutants.length} with the expected outcome`);
  return unexpected;
}

function isAsExpected(mutant: Mutant, { outcome }: Verdict): boolean {
  return outcome === (mutant.survives === undefined ? 'caught' : 'survived');
}

function lineOf(mutant: Mutant, verdict: Verdict): string {
  const mark = isAsExpected(mutant, verdict) ? 'ok  ' : 'BAD ';
  const why =
    verdict.outcome === 'caught'
      ? `caught by: ${verdict.by}`
      : `${verdict.outcome} ${verdict.by || (mutant.survives ?? '')}`;
  return `${mark} ${mutant.id} (${path.posix.basename(mutant.file)}, ${verdict.seconds.toFixed(1)} s) ${why}`;
}
