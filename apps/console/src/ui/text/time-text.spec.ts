import { describe, expect, it } from '@jest/globals';
import { inWords, lengthText, utcText } from './time-text.js';

describe('durations', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1000, '1 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [3_660_000, '1 h 1 min'],
    [90_061_000, '1 d 1 h'],
  ])('%d ms are %s', (ms, text) => expect(lengthText(ms)).toBe(text));
});

describe('moments', () => {
  it('show how long ago and how long until', () => {
    expect(inWords(5_000)).toBe('5 s ago');
    expect(inWords(-5_000)).toBe('in 5 s');
  });

  it('count a second ahead as now, because clocks differ', () => expect(inWords(-1_000)).toBe('now'));

  it('show UTC to the second', () => expect(utcText(Date.UTC(2026, 0, 2, 3, 4, 5))).toBe('2026-01-02 03:04:05 UTC'));
});
