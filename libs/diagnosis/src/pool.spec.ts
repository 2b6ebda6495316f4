import { describe, expect, it } from '@jest/globals';
import { averagedOver, monotonic, msAt, poolLoads, type LoadShare } from './pool.js';

const shareAt = (state: LoadShare[] | null, load: number) => state?.find((one) => one.load === load)?.share ?? 0;
const meanLoad = (state: LoadShare[] | null) => state!.reduce((sum, { load, share }) => sum + load * share, 0);
/** A server that divides its capacity: twice as many requests take twice as long. */
const sharing = [1, 2, 4, 8, 16, 32, 64].map((load) => ({ load, ms: 100 * load }));
/** A server that no number of requests slows down. */
const unlimited = [1, 64].map((load) => ({ load, ms: 100 }));

describe('the load that a new request finds', () => {
  it.each([0.3, 0.6, 0.8])('is geometric on one server that divides its capacity, at a utilisation of %d', (used) => {
    const state = poolLoads(sharing, used * 10, 1);
    for (const load of [1, 2, 5]) expect(shareAt(state, load)).toBeCloseTo((1 - used) * used ** (load - 1), 6);
  });

  it('is Poisson on a server that no number of requests slows down', () => {
    const state = poolLoads(unlimited, 20, 1);
    expect(shareAt(state, 1)).toBeCloseTo(Math.exp(-2), 6);
    expect(meanLoad(state)).toBeCloseTo(1 + 2, 6);
  });

  it('is lower with one pool of four instances than with four separate ones', () => {
    expect(meanLoad(poolLoads(sharing, 4 * 7, 4))).toBeLessThan(0.6 * meanLoad(poolLoads(sharing, 7, 1)));
  });

  it('has no state if more arrives than the instances can do', () => {
    expect(poolLoads(sharing, 11, 1)).toBeNull();
    expect(poolLoads(sharing, 11, 2)).not.toBeNull();
  });

  it('waits in the engine beyond its slots', () => {
    expect(poolLoads(unlimited, 50, 1, 4)).toBeNull();
    expect(meanLoad(poolLoads(unlimited, 30, 1, 4))).toBeGreaterThan(meanLoad(poolLoads(unlimited, 30, 1)));
  });
});

it('a load that is averaged over a stay is nearer to the mean, and has the same mean', () => {
  const shares = [1, 3].map((load) => ({ load, share: 0.5 }));
  expect(averagedOver(shares, 0)).toEqual(shares);
  const [low, high] = averagedOver(shares, 1);
  expect([low!.load, high!.load].map((load) => load - 2)).toEqual(
    [-1 + Math.exp(-1), 1 - Math.exp(-1)].map((one) => expect.closeTo(one, 9)),
  );
});

it('a duration is linear between two loads, and beyond the highest the rate stays', () => {
  expect([0.5, 1.5, 3, 128].map((load) => msAt(sharing, load))).toEqual([100, 150, 300, 12_800]);
});

it('a curve that falls is levelled by its samples', () => {
  const points = [
    { load: 1, ms: 10, n: 10 },
    { load: 2, ms: 30, n: 10 },
    { load: 4, ms: 20, n: 30 },
    { load: 8, ms: 40, n: 10 },
  ];
  expect(monotonic(points).map(({ ms }) => ms)).toEqual([10, 22.5, 22.5, 40]);
});
