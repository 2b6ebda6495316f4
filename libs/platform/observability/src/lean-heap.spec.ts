import { execFile } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Keeps the youngest objects it makes, as loading modules do, and prints the size of the young generation in bytes. */
const PROGRAM = `
import { getHeapSpaceStatistics } from 'node:v8';
const kept = [];
for (let made = 0; made < 2_000_000; made += 1) kept[made % 500_000] = { made };
console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size);
`;

const LEAN = `import { growHeapWhileBusy } from '@slipway/platform-observability/lean-heap';`;

/** Keeps the event loop busy for half a second, and returns to it in between. */
const BUSY_FIRST = `
for (const end = performance.now() + 500; performance.now() < end; ) {
  for (const turn = performance.now() + 20; performance.now() < turn; );
  await new Promise(setImmediate);
}
`;

async function youngBytes(first: string): Promise<number> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', `${first}${PROGRAM}`],
    { cwd: path.join(ROOT, 'apps/worker'), env: { PATH: process.env['PATH'] } },
  );
  return Number(stdout);
}

it('keeps the young generation small', async () => {
  const [usual, lean] = await Promise.all([youngBytes(''), youngBytes(LEAN)]);
  expect(lean).toBeLessThan(usual / 2);
});

it('lets it grow while the process is busy', async () => {
  const first = `${LEAN}growHeapWhileBusy();${BUSY_FIRST}`;
  expect(await youngBytes(first)).toBeGreaterThan(2 * (await youngBytes(LEAN + BUSY_FIRST)));
});
