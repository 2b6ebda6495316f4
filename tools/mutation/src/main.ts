import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';
import { problemsOf, readLists, type Mutant, type MutantList } from './mutant-list.js';
import { Trial, type Verdict } from './trial.js';

// npm run mutation [-- <part of a library's path>…] [--only <part of an id>]
const root = fileURLToPath(new URL('../../../', import.meta.url));
const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: 'string' } } });

const lists = (await readLists(root))
  .filter(({ library }) => positionals.length === 0 || positionals.some((part) => library.includes(part)))
  .map((list) => ({ ...list, mutants: list.mutants.filter(({ id }) => !values.only || id.includes(values.only)) }))
  .filter(({ mutants }) => mutants.length > 0);
if (lists.length === 0) fail('no list of mutants fits; lists are mutants.yaml beside a package.json');
const problems = lists.flatMap((list) => problemsOf(root, list));
if (problems.length > 0) fail(problems.join('\n'));

const setUpFile = new URL('../../test-runner/jest-global-setup.mjs', import.meta.url).href;
const tearDownFile = new URL('../../test-runner/jest-global-teardown.mjs', import.meta.url).href;
const { default: setUp } = (await import(setUpFile)) as { default(): Promise<void> };
const { default: tearDown } = (await import(tearDownFile)) as { default(): Promise<void> };

let unnoticed = 0;
// One Postgres for all of them; each test makes its own databases on it.
await setUp();
const copy = await WorkspaceCopy.make();
try {
  const trial = new Trial(copy);
  for (const list of lists) unnoticed += await tryList(trial, list);
} finally {
  await copy.remove();
  await tearDown();
}
process.exit(unnoticed === 0 ? 0 : 1);

async function tryList(trial: Trial, { library, mutants }: MutantList): Promise<number> {
  console.log(`\n${library}: ${mutants.length} mutants`);
  const sound = new Set<string>();
  let survivors = 0;
  for (const mutant of mutants) {
    const key = JSON.stringify([mutant.specs, mutant.test]);
    const failure = sound.has(key) ? undefined : await trial.passesUnchanged(mutant);
    if (failure !== undefined) fail(`${mutant.specs.join(', ')} fails without any mutant:\n${failure.slice(-4_000)}`);
    sound.add(key);
    const verdict = await trial.verdictOn(mutant);
    if (!isAsExpected(mutant, verdict)) survivors += 1;
    console.log(lineOf(mutant, verdict));
  }
  console.log(`${library}: ${mutants.length - survivors} of ${mutants.length} as their list says`);
  return survivors;
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

function fail(problem: string): never {
  console.error(problem);
  process.exit(2);
}
