import { expect, it } from '@jest/globals';
import { mergeRecords } from '@slipway/dataplane';
import { recordsOf } from '../../test/records.js';
import { NOW, situation } from '../../test/situations.js';
import { evaluate } from './evaluation.js';
import type { ReviewRecords } from './situation.js';

const HOUR_MS = 3_600_000;

/** The records of a round with the defaults of a policy: a week in hours, and its last six hours in minutes. */
function week(): ReviewRecords {
  const minutes = recordsOf({ minutes: 360 });
  const hour = mergeRecords(minutes.history.slice(0, 60));
  const hours = Array.from({ length: 7 * 24 - 6 }, (_, index) => ({
    ...hour,
    at: new Date(NOW.getTime() - (7 * 24 - index) * HOUR_MS),
  }));
  const arrivals = Array.from({ length: 7 * 24 * 60 }, (_, index) => ({
    at: new Date(NOW.getTime() - (7 * 24 * 60 - index) * 60_000),
    seconds: 60,
    count: 40,
  }));
  return { ...minutes, history: [...hours, ...minutes.history], arrivals };
}

it('a round needs at most 100 ms of processor time for a week of records', () => {
  const of = situation({ records: week() });
  // The first run compiles the code.
  evaluate(of);
  const costs = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    evaluate(of);
    return process.cpuUsage(before).user / 1_000;
  });
  expect(Math.min(...costs)).toBeLessThan(100);
});
