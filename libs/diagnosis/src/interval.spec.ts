import { describe, expect, it } from '@jest/globals';
import { HistogramRecorder } from '@slipway/dataplane';
import { randomFrom } from '../test/records.js';
import {
  blocked,
  designEffect,
  isOutside,
  leastSamples,
  measured,
  measuredShare,
  sideOf,
  tQuantile,
} from './interval.js';

/** Blocks of exponential values, each block with a level of its own. */
function blocks(seed: number, count: number, size: number, spread: number) {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const level = 100 * Math.exp(spread * (random() - 0.5));
    const recorder = new HistogramRecorder();
    for (let index = 0; index < size; index += 1) recorder.record(-level * Math.log(1 - random()));
    return recorder.snapshot();
  });
}

describe('an interval', () => {
  it.each([
    ['independent values', 0],
    ['blocks that differ', 0.6],
  ])('misses the true p90 of %s in about one of ten cases', (_, spread) => {
    const truth = measured('p90', blocked(blocks(1, 1_000, 200, spread)), 0.95)!.value;
    const missed = Array.from({ length: 150 }, (_seed, seed) => {
      const { low, high } = measured('p90', blocked(blocks(seed + 10, 6, 200, spread)), 0.95)!;
      return truth < low || truth > high;
    }).filter(Boolean).length;
    expect(missed / 150).toBeLessThan(0.15);
  });

  it('comes from the blocks of all groups, if one group has values in few of them', () => {
    const groups = Array.from({ length: 6 }, (_, seed) => blocked(blocks(seed + 1, 4, 200, 0.6)));
    const [alone] = groups;
    expect(designEffect('p90', groups)).toMatchObject({ degrees: 18 });
    expect(designEffect('p90', groups).factor).toBeGreaterThan(1.5);
    const [own, pooled] = [measured('p90', alone!, 0.95), measured('p90', alone!, 0.95, designEffect('p90', groups))];
    expect(pooled!.value).toBe(own!.value);
    expect(designEffect('p90', [blocked(blocks(1, 40, 200, 0))]).factor).toBeLessThan(2);
  });

  it('of many values is as narrow as their blocks agree', () => {
    // Six blocks whose p90 differ by 5 %, each of 20,000 values: far more than their number would explain.
    const values = blocked(blocks(1, 6, 20_000, 0.15));
    expect(designEffect('p90', [values]).factor).toBeGreaterThan(10);
    const { value, low, high } = measured('p90', values, 0.95)!;
    expect(high / value).toBeLessThan(1.12);
    expect(value / low).toBeLessThan(1.12);
  });

  it('of a share counts blocks that fail together as less evidence', () => {
    const together = measuredShare(
      [{ failed: 60, of: 200 }, ...Array.from({ length: 5 }, () => ({ failed: 0, of: 200 }))],
      0.95,
    )!;
    const apart = measuredShare(
      Array.from({ length: 6 }, () => ({ failed: 10, of: 200 })),
      0.95,
    )!;
    expect([together.value, apart.value]).toEqual([0.05, 0.05]);
    expect(together.low).toBeLessThan(0.02);
    expect(apart.low).toBeGreaterThan(0.035);
  });

  it('is null without values', () => {
    expect(measured('p95', blocked([new HistogramRecorder().snapshot()]), 0.95)).toBeNull();
    expect(measuredShare([{ failed: 0, of: 0 }], 0.95)).toBeNull();
  });
});

it.each([
  [0.95, 5, 2.015],
  [0.95, 3, 2.353],
  [0.99, 10, 2.764],
  [0.95, 0, 1.645],
])("Student's quantile at %d with %d degrees of freedom is about %d", (p, degrees, expected) => {
  expect(Math.abs(tQuantile(p, degrees) / expected - 1)).toBeLessThan(0.03);
});

it('a quantile needs five values beyond it', () => {
  expect([leastSamples('p50', 50), leastSamples('p95', 50), leastSamples('p99', 50), leastSamples('avg', 3)]).toEqual([
    50, 100, 500, 3,
  ]);
});

it('a goal is missed or met only if the whole interval is on one side', () => {
  const latency = { metric: 'ttft_ms', stat: 'p95', threshold: 100 } as const;
  const rate = { metric: 'output_tokens_per_s', stat: 'p50', threshold: 100 } as const;
  const [below, around, above] = [
    { value: 90, low: 80, high: 99 },
    { value: 99, low: 90, high: 110 },
    { value: 120, low: 101, high: 140 },
  ];
  expect([below, around, above].map((one) => sideOf(latency, one))).toEqual(['met', 'unsure', 'missed']);
  expect([below, around, above].map((one) => sideOf(rate, one))).toEqual(['missed', 'unsure', 'met']);
  expect([isOutside(latency, 100), isOutside(rate, 100), isOutside(latency, 101), isOutside(rate, 99)]).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
