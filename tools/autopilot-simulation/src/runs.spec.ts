import { describe, expect, it } from '@jest/globals';
import { randomFrom } from '@slipway/inference-sim/random';
import { Pool, type PoolRequest } from './pool.js';
import { profilesOf } from './profiles.js';
import { aloneRun, capacityOf, Service, statisticOf, steadyRun } from './runs.js';
import { Arrivals, rateAt, type Course } from './traffic.js';

/** Every request is the same: 100 tokens in 30 ms, then 9 more in 10 ms each. */
const CONSTANTS = {
  'max-num-seqs': 1,
  'max-num-batched-tokens': 1_000,
  'step-ms': 10,
  'token-us': 0,
  'kv-token-us': 0,
  'kv-tokens': 10_000,
  'input-tokens': 100,
  'output-tokens': 10,
  'input-sigma': 0,
  'output-sigma': 0,
};
const [PROFILE] = profilesOf(['queueing'], CONSTANTS) as [ReturnType<typeof profilesOf>[number]];
const COURSE: Course = { peak: 10, low: 0.1, warmUpMs: 0, riseMs: 600_000, then: 'plateau' };

it('a request alone takes the time of its iterations', () => {
  const values = aloneRun(PROFILE, 500, 1);
  expect(values).toHaveLength(500);
  expect(statisticOf('p50', values)).toBeCloseTo(10, 0);
  // The first five requests of an instance are slow.
  expect(values.filter((value) => value > 20)).toHaveLength(5);
});

it('the capacity is that of an engine that is never idle', () => {
  // One request at a time takes ten iterations of 10 ms.
  expect(capacityOf(PROFILE, 1)).toBeCloseTo(10, 0);
});

it('requests at a constant rate wait as long as queueing theory says', () => {
  const settings = { profile: PROFILE, replicas: 1, patienceMs: Infinity, seed: 1 };
  // Poisson arrivals and equal service at half of the capacity wait for half of a service on average: 50 ms.
  const mean = statisticOf('avg', steadyRun({ ...settings, rate: 5, minutes: 240 })) - 10;
  expect(mean).toBeGreaterThan(45);
  expect(mean).toBeLessThan(55);
});

describe('a pool', () => {
  const ended: { request: PoolRequest; at: number; isAbandoned: boolean }[] = [];
  const observer = {
    onEnd: (request: PoolRequest, at: number, isAbandoned: boolean) => ended.push({ request, at, isAbandoned }),
  };
  const poolOf = (replicas: number, patienceMs: number): Pool => {
    ended.length = 0;
    return new Pool({ profile: PROFILE, replicas, patienceMs, startAt: 0 }, randomFrom(1), observer);
  };
  const lengths = { inputTokens: 100, outputTokens: 10 };

  it('sends each request to an instance with the fewest', () => {
    const pool = poolOf(3, Infinity);
    for (let index = 0; index < 7; index += 1) pool.arrive(index, lengths);
    expect(pool.instances.map(({ inFlight }) => inFlight).sort()).toEqual([2, 2, 3]);
    pool.runUntil(Infinity);
    expect(pool.instances.map(({ inFlight }) => inFlight)).toEqual([0, 0, 0]);
    expect(ended).toHaveLength(7);
  });

  it('loses the clients that get no token in time, and only them', () => {
    const pool = poolOf(1, 500);
    for (let index = 0; index < 5; index += 1) pool.arrive(index, lengths);
    pool.runUntil(Infinity);
    const left = ended.filter(({ isAbandoned }) => isAbandoned);
    // The slow first requests take about 300 ms each, so the first two get their first token in time.
    expect(left.map(({ request, at }) => at - request.startedAt)).toEqual([500, 500, 500]);
    expect(ended.filter(({ isAbandoned }) => !isAbandoned).map(({ request }) => request.startedAt)).toEqual([0, 1]);
    expect(pool.instances[0]?.inFlight).toBe(0);
  });
});

describe('traffic', () => {
  it('rises from its quietest time to its peak, and stays there', () => {
    const at = (minutes: number): number => Math.round(10 * rateAt(COURSE, minutes * 60_000)) / 10;
    expect([0, 5, 10, 20].map(at)).toEqual([1, 5.5, 10, 10]);
    const days: Course = { ...COURSE, then: 'days' };
    expect([10, 20, 30].map((minutes) => Math.round(rateAt(days, minutes * 60_000)))).toEqual([10, 1, 10]);
  });

  it('arrives as often as its course says', () => {
    const arrivals = new Arrivals(randomFrom(1), COURSE);
    const counts = [0, 0];
    for (; arrivals.nextAt < 1_200_000; arrivals.advance()) counts[arrivals.nextAt < 600_000 ? 0 : 1]! += 1;
    expect(counts[0]! / 600).toBeCloseTo(5.5, 0);
    expect(counts[1]! / 600).toBeCloseTo(10, 0);
  });
});

it('records what came and what ended, minute by minute, and the first requests of instances apart', () => {
  const service = new Service({ profile: PROFILE, patienceMs: 60_000, seed: 1, course: { ...COURSE, peak: 12 } });
  service.serve(2, 20);
  const { records, arrivals } = service.gateway;
  expect(records).toHaveLength(20);
  const sum = (read: (record: (typeof records)[number]) => number): number =>
    records.reduce((all, record) => all + read(record), 0);
  const inFlight = 2 * 60;
  const came = sum((record) => record.arrivals);
  expect(came).toBe(arrivals.reduce((all, { count }) => all + count, 0));
  expect(came - sum(({ stats }) => stats.counts.ok)).toBeLessThan(inFlight);
  expect(sum(({ starting }) => starting.ttft_ms.n)).toBeGreaterThanOrEqual(200);
  const byLoad = sum(({ stats }) => Object.values(stats.loads.histograms.ttft_ms).reduce((all, { n }) => all + n, 0));
  expect(byLoad + sum(({ starting }) => starting.ttft_ms.n)).toBe(sum(({ stats }) => stats.ttft_ms.n));
  expect(new Set(records.map(({ instances }) => instances))).toEqual(new Set([2]));
});

it('a rollout moves the traffic by its steps, and its instances count from the promotion on', () => {
  const service = new Service({ profile: PROFILE, course: { ...COURSE, riseMs: 0 }, patienceMs: 60_000, seed: 1 });
  const arrivals = () => service.gateway.records.map((record) => record.arrivals / 600);
  service.serve(2, 2);
  service.promote(3, [
    { traffic_percent: 25, soak_seconds: 590 },
    { traffic_percent: 100, soak_seconds: 60 },
  ]);
  expect(service.gateway.replicas).toBe(3);
  service.serve(3, 2);
  const [all, during, end, after] = [
    arrivals().slice(0, 2),
    arrivals().slice(2, 12),
    arrivals()[12],
    arrivals().slice(13),
  ];
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(mean(all)).toBeCloseTo(1, 1);
  expect(mean(during)).toBeCloseTo(0.75, 1);
  expect(end).toBe(0);
  expect(after).toHaveLength(2);
  expect(mean(after)).toBeCloseTo(1, 1);
});
