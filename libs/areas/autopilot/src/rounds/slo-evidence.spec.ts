import { describe, expect, it } from '@jest/globals';
import { histogramOf, statsOf } from '../../test/situations.js';
import { measureSlo } from './slo-evidence.js';

/** A seeded generator, so that the rates below are the same in every run (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('the kindest value', () => {
  const draw = random(7);

  it('of an error rate is beyond a limit that holds in at most 5 % of the cases', () => {
    let wrong = 0;
    for (let run = 0; run < 2_000; run += 1) {
      let failed = 0;
      for (let i = 0; i < 200; i += 1) if (draw() < 0.05) failed += 1;
      const { kindest } = measureSlo(
        { metric: 'error_rate', stat: 'rate', threshold: 0.05 },
        statsOf({ ok: 200 - failed, failed }),
        0.95,
      );
      if ((kindest as number) > 0.05) wrong += 1;
    }
    expect(wrong / 2_000).toBeLessThan(0.07);
    expect(wrong).toBeGreaterThan(0);
  });

  it.each([
    ['p50', 0.5],
    ['p95', 0.95],
  ] as const)('of a %s is, too', (stat, q) => {
    const trueValue = -100 * Math.log(1 - q);
    let wrong = 0;
    for (let run = 0; run < 500; run += 1) {
      const values = Array.from({ length: 200 }, () => -100 * Math.log(1 - draw()));
      const { kindest } = measureSlo(
        { metric: 'e2e_latency_ms', stat, threshold: 0 },
        statsOf({ ok: 200, e2e_latency_ms: histogramOf(values) }),
        0.95,
      );
      if ((kindest as number) > trueValue) wrong += 1;
    }
    expect(wrong / 500).toBeLessThan(0.07);
  });

  it('is above the value if more is better, and equals none without samples', () => {
    const stats = statsOf({ ok: 3, output_tokens_per_s: histogramOf([10, 20, 30]) });
    const measured = measureSlo({ metric: 'output_tokens_per_s', stat: 'avg', threshold: 0 }, stats, 0.95);
    expect(measured).toMatchObject({ value: 20, n: 3 });
    expect(measured.kindest as number).toBeGreaterThan(20);
    expect(measureSlo({ metric: 'ttft_ms', stat: 'p95', threshold: 0 }, stats, 0.95)).toEqual({
      value: null,
      kindest: null,
      n: 0,
    });
  });
});
