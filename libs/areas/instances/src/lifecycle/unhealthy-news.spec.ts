import { expect, it } from '@jest/globals';
import type { Observation } from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';
import { UnhealthyNews } from './server-observations.js';

const row = (id: string, message: string) =>
  ({ id, message, reason: 'probe_failed', incarnation: null, place: null }) as unknown as InstanceRow;
const seen = (message: string): Observation => ({ state: 'unhealthy', reason: 'probe_failed', message });

it('writes what is new, of each instance, but not at every look that has something else to say', () => {
  const news = new UnhealthyNews();
  expect(news.isDue(row('a', 'refused'), seen('refused'))).toBe(false);
  expect(news.isDue(row('a', 'refused'), seen('answered 404'))).toBe(true);
  for (const message of ['answered 500', 'answered 501', 'answered 502'])
    expect(news.isDue(row('a', 'answered 404'), seen(message))).toBe(false);
  expect(news.isDue(row('b', 'refused'), seen('answered 404'))).toBe(true);
  news.forget('a');
  expect(news.isDue(row('a', 'answered 404'), seen('answered 500'))).toBe(true);
});
