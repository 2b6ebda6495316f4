import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WorkspaceCopy } from '@slipway/platform-testing/workspace-copy';
import { CannotTry, chooseLists, sampleOf, tryLists, type Workplace } from './run.js';
import { Trial } from './trial.js';

// npm run mutation [-- <part of a library's path>…] [--only <part of an id>] [--sample <count>] [--seed <number>]
const root = fileURLToPath(new URL('../../../', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, sample: { type: 'string' }, seed: { type: 'string' } },
});

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => stop.abort(new Error(`Stopped by ${name} before the next mutant.`)));

let exitCode = 2;
try {
  let lists = await chooseLists(root, positionals, values.only);
  if (values.sample !== undefined) {
    const seed = numberOf('--seed', values.seed ?? String(Date.now() % 2 ** 31));
    lists = sampleOf(lists, numberOf('--sample', values.sample), seed);
    console.log(`To repeat this sample: --sample ${values.sample} --seed ${seed}`);
  }
  exitCode = (await tryLists(lists, await workplace(), { signal: stop.signal })) === 0 ? 0 : 1;
} catch (error) {
  const isOurs = error instanceof CannotTry || error === stop.signal.reason;
  console.error(isOurs ? (error as Error).message : error);
}
process.exit(exitCode);

function numberOf(option: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new CannotTry(`${option} must be a whole number, not ${text}`);
  return Number(text);
}

/** One Postgres for all mutants; each test makes its own databases on it. */
async function workplace(): Promise<Workplace> {
  const run = async (file: string) => {
    const { href } = new URL(`../../test-runner/${file}`, import.meta.url);
    return ((await import(href)) as { default(): Promise<void> }).default;
  };
  return {
    setUp: await run('jest-global-setup.mjs'),
    tearDown: await run('jest-global-teardown.mjs'),
    async makeCopy() {
      const copy = await WorkspaceCopy.make();
      return { trial: new Trial(copy), remove: () => copy.remove() };
    },
  };
}
