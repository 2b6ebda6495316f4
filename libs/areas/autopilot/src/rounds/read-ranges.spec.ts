import { describe, expect, it } from '@jest/globals';
import { emptyRecord } from '@slipway/dataplane';
import { policyOf } from '../../test/situations.js';
import { rangesOf, withoutGaps } from './read-ranges.js';

const UNTIL = new Date('2026-06-10T12:34:56.789Z');
const ranges = (evidence: object, reliability: object = {}) => rangesOf(policyOf({ evidence, reliability }), UNTIL);
const DAY = 86_400;

describe('a round reads', () => {
  it('whole minutes: the window, a week before it in hours, and the last hours in minutes', () => {
    expect(ranges({})).toEqual({
      to: new Date('2026-06-10T12:34:00Z'),
      window: { from: new Date('2026-06-10T12:04:00Z'), minutesFrom: new Date('2026-06-10T06:00:00Z') },
      history: { from: new Date('2026-06-03T12:00:00Z'), minutesFrom: new Date('2026-06-10T06:00:00Z') },
      arrivalsFrom: new Date('2026-06-03T12:34:00Z'),
      olderArrivalsFrom: new Date('2026-06-03T12:34:00Z'),
    });
  });

  it('at least one minute', () => {
    expect(ranges({ min_duration_seconds: 5 }).window.from).toEqual(new Date('2026-06-10T12:33:00Z'));
    expect(ranges({ min_duration_seconds: 61 }).window.from).toEqual(new Date('2026-06-10T12:32:00Z'));
  });

  it('a long window in hours, so that the time for it stays short', () => {
    const { window } = ranges({ min_duration_seconds: 3 * DAY });
    expect(window.from).toEqual(new Date('2026-06-07T12:00:00Z'));
    expect(window.minutesFrom).toEqual(new Date('2026-06-10T06:00:00Z'));
  });

  it('no more than what is kept', () => {
    const { history, arrivalsFrom } = ranges({ max_age_seconds: 300 * DAY });
    expect(history.from).toEqual(new Date('2026-05-11T12:00:00Z'));
    expect(arrivalsFrom).toEqual(new Date('2026-06-02T12:34:00Z'));
  });

  it('arrivals for as long as fewer replicas must have been enough', () => {
    const { arrivalsFrom } = ranges({ max_age_seconds: 3_600 }, { right_size_after_seconds: 2 * DAY });
    expect(arrivalsFrom).toEqual(new Date('2026-06-08T12:34:00Z'));
    const patient = ranges({}, { right_size_after_seconds: 20 * DAY });
    expect(patient.arrivalsFrom).toEqual(new Date('2026-06-02T12:34:00Z'));
    expect(patient.olderArrivalsFrom).toEqual(new Date('2026-05-21T12:34:00Z'));
  });
});

it('a window has an empty record for each minute in which nothing ended', () => {
  const [from, to] = [new Date('2026-06-10T12:00:00Z'), new Date('2026-06-10T12:05:00Z')];
  const some = { ...emptyRecord(new Date('2026-06-10T12:03:00Z'), 60), arrivals: 7 };
  expect(
    withoutGaps([some], { from, minutesFrom: from }, to).map(({ at, arrivals }) => [at.getUTCMinutes(), arrivals]),
  ).toEqual([
    [0, 0],
    [1, 0],
    [2, 0],
    [3, 7],
    [4, 0],
  ]);
  const hours = withoutGaps([], { from: new Date('2026-06-10T09:00:00Z'), minutesFrom: from }, to);
  expect(hours.map(({ seconds }) => seconds)).toEqual([3600, 3600, 3600, 60, 60, 60, 60, 60]);
});
