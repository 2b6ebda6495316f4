import { expect, it } from '@jest/globals';
import { LoadRecorder, quantile, type ServiceRecord } from '@slipway/dataplane';
import { randomFrom, recordsOf } from '../test/records.js';
import { blocksOf } from './blocks.js';
import { valuesByLoad } from './curve.js';

/** Times to the first token of 100 to 900 ms, equally often. Other requests join at random moments. */
function withJoins(joinsPerMs: number): ServiceRecord[] {
  const random = randomFrom(1);
  const plain = { firstTokenMs: () => 100, perTokenMs: () => 10, tokens: 10, loadIn: () => 1 };
  return recordsOf({ ...plain, requestsPerMinute: 200, minutes: 30 }).map((record) => {
    const loads = new LoadRecorder();
    for (let request = 0; request < 200; request += 1) {
      const ms = 100 + 800 * random();
      const joinsAfter = joinsPerMs === 0 ? Infinity : -Math.log(1 - random()) / joinsPerMs;
      loads.aloneMs += Math.min(ms, joinsAfter);
      if (joinsAfter < ms) loads.joined += 1;
      loads.at('ttft_ms', joinsAfter < ms ? 1.5 : 1).record(ms);
      loads.at('itl_ms', joinsAfter < ms ? 1.5 : 1).record(ms);
    }
    return { ...record, stats: { ...record.stats, loads: loads.snapshot() } };
  });
}

it.each([0, 0.0005, 0.002])(
  'requests that stay alone count for those that are joined: with %s joins a millisecond',
  (joins) => {
    const blocks = blocksOf(withJoins(joins));
    const [alone] = valuesByLoad(blocks, 'ttft_ms');
    expect(alone!.load).toBe(1);
    // Otherwise the median would be 500, 460 and 354 ms.
    expect(Math.abs(quantile(alone!.all, 0.5)! / 500 - 1)).toBeLessThan(0.06);
    expect(alone!.all.sum / alone!.all.n / 500).toBeCloseTo(1, 1);
    const total = Object.values(alone!.all.b).reduce((sum, count) => sum + count, 0);
    expect(total).toBeCloseTo(alone!.all.n, 3);
  },
);

it('a time per token is not longer because a request is, so it counts as it is', () => {
  const blocks = blocksOf(withJoins(0.002));
  const [alone] = valuesByLoad(blocks, 'itl_ms');
  expect(quantile(alone!.all, 0.5)!).toBeLessThan(400);
});
