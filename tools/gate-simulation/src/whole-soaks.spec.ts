import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

// `npm run gate-simulation -- --whole` runs 1,000 seeds of each case. These few are the same each time.
const MAIN = new URL('../dist/main.js', import.meta.url).pathname;

interface Row {
  candidate: string;
  candidateShare: number;
  verdicts: { breached?: number };
  median: number | null;
  p95: number | null;
}

async function simulate(...options: string[]): Promise<Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--whole', '--json', ...options]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

it('stops none of the candidates that are identical, although a few sessions make most of the requests', async () => {
  // Few sessions have most of the failures and of the requests at 5 %. At 50 % and 85 % of the capacity, a few requests
  // more are a queue.
  const few = await simulate('--seeds=20', '--shares=0.05', '--utilisations=0.3');
  const busy = await simulate('--seeds=20', '--shares=0.5', '--utilisations=0.85');
  expect([...few, ...busy].map(({ verdicts }) => verdicts.breached ?? 0)).toEqual([0, 0]);
}, 60_000);

it.each([
  ['fails all', '0.05', 25],
  ['fails all', '0.2,0.5', 6],
  ['fails 10 %', '0.5', 55],
  ['hangs', '0.5', 16],
  ['twice as slow', '0.5', 52],
])(
  'stops most candidates of a kind in time: %s, at a share of %s, in %s s',
  async (candidate, shares, seconds) => {
    const rows = await simulate(
      ...['--seeds=5', '--utilisations=0.6', `--candidates=${candidate}`, `--shares=${shares}`],
    );
    for (const { median } of rows) expect(median ?? Infinity).toBeLessThanOrEqual(seconds);
  },
  60_000,
);
