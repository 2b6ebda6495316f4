import { describe, expect, it } from '@jest/globals';
import { lineThrough, rateText, ratesOf } from './sparkline-points.js';

const METRICS = {
  from: '2026-01-02T03:00:00.000Z',
  to: '2026-01-02T03:02:00.000Z',
  step_seconds: 30,
  data: [
    { points: [{ at: '2026-01-02T03:00:30.000Z', requests_per_s: 2 }] },
    {
      points: [
        { at: '2026-01-02T03:00:30.000Z', requests_per_s: 1 },
        { at: '2026-01-02T03:01:30.000Z', requests_per_s: 4 },
      ],
    },
  ],
};

describe('rates', () => {
  it('are the sum of the revisions, with zero if no request ended', () =>
    expect(ratesOf(METRICS)).toEqual([0, 3, 0, 4]));

  it('leave out points outside the range', () =>
    expect(ratesOf({ ...METRICS, data: [{ points: [{ at: '2027-01-01T00:00:00Z', requests_per_s: 9 }] }] })).toEqual([
      0, 0, 0, 0,
    ]));

  it('are bounded, whatever the api answers', () => {
    expect(ratesOf({ ...METRICS, to: '2030-01-01T00:00:00Z' })).toHaveLength(120);
    expect(ratesOf({ ...METRICS, to: METRICS.from })).toEqual([]);
    expect(ratesOf({ ...METRICS, step_seconds: 0, to: METRICS.from })).toEqual([]);
  });
});

describe('the line', () => {
  it('reaches from edge to edge, with the largest value at the top', () =>
    expect(lineThrough([0, 4, 2], 22, 12)).toBe('1.0,11.0 11.0,1.0 21.0,6.0'));

  it('is at the bottom if there were no requests', () =>
    expect(lineThrough([0, 0], 12, 12)).toBe('1.0,11.0 11.0,11.0'));
});

it.each([
  [0, '0/s'],
  [0.234, '0.2/s'],
  [12.6, '13/s'],
])('formats %d as %s', (rate, text) => expect(rateText(rate)).toBe(text));
