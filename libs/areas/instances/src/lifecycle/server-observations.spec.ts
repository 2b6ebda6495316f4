import { describe, expect, it } from '@jest/globals';
import { TakeoverPatience, UnhealthyNews } from './server-observations.js';
import type { Observation } from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';

describe('the patience after a takeover', () => {
  it('tolerates fewer misses than the threshold of an instance that it has never seen ready', () => {
    const patience = new TakeoverPatience();
    expect([1, 2, 3, 4].map(() => patience.bears('ins_1', 1, 3))).toEqual([true, true, false, false]);
    expect(patience.bears('ins_1', 2, 3)).toBe(true);
    expect(patience.bears('ins_2', 1, 1)).toBe(false);
  });

  it('leaves the count to the driver once the instance has answered', () => {
    const patience = new TakeoverPatience();
    expect(patience.bears('ins_1', 1, 3)).toBe(true);
    patience.noteReady('ins_1', 1);
    expect(patience.bears('ins_1', 1, 3)).toBe(false);
    patience.forget('ins_1');
    expect(patience.bears('ins_1', 1, 3)).toBe(true);
  });
});

describe('news of an unhealthy instance', () => {
  const row = (id: string, message: string) =>
    ({
      ...{ id, message, reason: 'probe_failed', incarnation: null, place: null },
      ...{ ending_url: null, doubted: false },
    }) as unknown as InstanceRow;
  const seen = (message: string): Observation => ({ state: 'unhealthy', reason: 'probe_failed', message });

  it('is recorded for each instance, but not at every check with a new message', () => {
    const news = new UnhealthyNews();
    expect(news.isDue(row('a', 'refused'), seen('refused'))).toBe(false);
    expect(news.isDue(row('a', 'refused'), seen('answered 404'))).toBe(true);
    for (const message of ['answered 500', 'answered 501', 'answered 502'])
      expect(news.isDue(row('a', 'answered 404'), seen(message))).toBe(false);
    expect(news.isDue(row('b', 'refused'), seen('answered 404'))).toBe(true);
    news.forget('a');
    expect(news.isDue(row('a', 'answered 404'), seen('answered 500'))).toBe(true);
  });
});
