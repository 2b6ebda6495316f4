import { expect, it } from '@jest/globals';
import {
  compareShares,
  compareWithLimit,
  evidenceNeeded,
  highestShare,
  NO_EVIDENCE,
  type SequentialEvidence,
} from './sequential.js';

/** Numbers in 0..1 that are the same in every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const FALSE_ALARMS = 0.02;
const NEEDED = evidenceNeeded(FALSE_ALARMS);

/** The second in which the evidence is enough; undefined if it never is. */
function stoppedAt(seconds: number, add: (evidence: SequentialEvidence) => SequentialEvidence): number | undefined {
  let evidence = NO_EVIDENCE;
  for (let second = 1; second <= seconds; second += 1) {
    evidence = add(evidence);
    if (evidence.log >= NEEDED) return second;
  }
  return undefined;
}

function counts(next: () => number, of: number, share: number): { events: number; of: number } {
  return { events: Array.from({ length: of }, next).filter((one) => one < share).length, of };
}

it.each([
  ['few errors', 0.002, 2, 18],
  ['5 % of errors', 0.05, 10, 10],
  ['half of them errors', 0.5, 1, 19],
])('rarely stops an identical candidate with %s, however often it looks', (_name, share, ours, theirs) => {
  const stopped = Array.from({ length: 1_000 }, (_, seed) => {
    const next = random(seed);
    return stoppedAt(180, (one) => compareShares(one, counts(next, ours, share), counts(next, theirs, share)));
  }).filter((second) => second !== undefined);
  expect(stopped.length / 1_000).toBeLessThanOrEqual(FALSE_ALARMS);
});

it.each([
  ['fails every request, with 1 of 20', 1, 1, 19, 8],
  ['fails every request, with 4 of 20', 1, 4, 16, 4],
  ['fails one of ten, with 10 of 20', 0.1, 10, 10, 40],
])('stops a candidate that %s', (_name, share, ours, theirs, seconds) => {
  const stops = Array.from({ length: 200 }, (_, seed) => {
    const next = random(seed);
    return stoppedAt(180, (one) => compareShares(one, counts(next, ours, share), counts(next, theirs, 0.001))) ?? 999;
  }).toSorted((a, b) => a - b);
  expect(stops[Math.floor(0.95 * stops.length)]).toBeLessThanOrEqual(seconds);
});

it('finds no evidence in time in which only one side has requests, or in a better candidate', () => {
  const alone = compareShares(NO_EVIDENCE, { events: 5, of: 5 }, { events: 0, of: 0 });
  expect(alone.log).toBe(0);
  const better = Array.from({ length: 100 }).reduce<SequentialEvidence>(
    (one) => compareShares(one, { events: 0, of: 5 }, { events: 5, of: 5 }),
    NO_EVIDENCE,
  );
  expect(better.log).toBeLessThanOrEqual(0);
});

it('compares with a limit: rarely stops at the limit, and soon beyond it', () => {
  const at = (share: number, seed: number): number | undefined => {
    const next = random(seed);
    return stoppedAt(300, (one) => compareWithLimit(one, counts(next, 10, share), 0.02));
  };
  const seeds = Array.from({ length: 1_000 }, (_, seed) => seed);
  expect(seeds.filter((seed) => at(0.02, seed) !== undefined).length / 1_000).toBeLessThanOrEqual(FALSE_ALARMS);
  expect(
    seeds
      .slice(0, 100)
      .map((seed) => at(0.2, seed) ?? 999)
      .filter((second) => second > 20),
  ).toEqual([]);
  expect(compareWithLimit({ ...NO_EVIDENCE, candidate: { events: 1, of: 2 } }, { events: 1, of: 1 }, 0).log).toBe(1e6);
});

it('bounds the share of earlier requests from above', () => {
  expect(highestShare({ events: 0, of: 0 }, 0.01)).toBe(1);
  expect(highestShare({ events: 0, of: 1_000 }, 0.01)).toBeCloseTo(0.0046, 3);
  expect(highestShare({ events: 50, of: 1_000 }, 0.01)).toBeGreaterThan(0.06);
  expect(highestShare({ events: 10, of: 10 }, 0.01)).toBe(1);
});
