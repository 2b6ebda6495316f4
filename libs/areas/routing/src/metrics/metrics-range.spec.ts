import { expect, it } from '@jest/globals';
import { rangeIssues, rangeOf, type RangeRequest } from './metrics-range.js';

const NOW = new Date('2026-01-01T12:00:07.250Z');
const range = (asked: RangeRequest) => {
  const { from, to, stepSeconds } = rangeOf(asked, NOW);
  return [from.toISOString().slice(11, 19), to.toISOString().slice(11, 23), stepSeconds];
};
const faults = (asked: RangeRequest) => rangeIssues(asked, NOW).map(({ field, code }) => `${field} ${code}`);
const at = (time: string) => `2026-01-01T${time}Z`;

it('uses the last fifteen minutes in at most 120 steps by default, including the current second', () => {
  expect(range({})).toEqual(['11:45:00', '12:00:08.000', 10]);
});

it('counts back from the given end', () => {
  expect(range({ to: at('11:00:00') })).toEqual(['10:45:00', '11:00:00.000', 10]);
});

it.each([
  ['11:59:59', 1],
  ['11:58:00', 2],
  ['11:50:08', 5],
  ['11:00:08', 30],
  ['10:00:08', 60],
  ['09:00:08', 120],
])('divides the time since %s into steps of %d seconds', (from, seconds) => {
  expect(range({ from: at(from) })[2]).toBe(seconds);
});

it('moves the start back to the start of a step', () => {
  expect(range({ from: at('11:59:59.900'), step: 60 })).toEqual(['11:59:00', '12:00:08.000', 60]);
});

it('refuses a range that ends before it begins, is too long or has too many steps', () => {
  expect(faults({ from: at('12:00:08') })).toEqual(['from order']);
  expect(faults({ from: at('11:00:00'), to: at('11:00:00') })).toEqual(['from order']);
  expect(faults({ from: at('11:00:00'), to: at('11:00:00.001') })).toEqual([]);
  expect(faults({ from: at('09:00:08') })).toEqual([]);
  expect(faults({ from: at('09:00:07') })).toEqual(['from max']);
  expect(faults({ from: at('09:00:08'), step: 30 })).toEqual([]);
  expect(faults({ from: at('09:00:08'), step: 29 })).toEqual(['step min']);
  expect(faults({ step: 2 })).toEqual(['step min']);
  expect(faults({ step: 3 })).toEqual([]);
  expect(rangeIssues({ step: 1 }, NOW)[0]?.message).toContain('at least 3');
});
