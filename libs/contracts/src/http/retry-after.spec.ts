import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.js';

const NOW = Date.UTC(2026, 10, 29, 12, 0, 0);

describe('Retry-After of a server', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['no seconds', '0', 0],
    ['white space around it', ' 7 ', 7_000],
    ['more digits than a number holds', '9'.repeat(400), Infinity],
    ['a date', 'Sun, 29 Nov 2026 12:00:30 GMT', 30_000],
    ['the date of RFC 850', 'Sunday, 29-Nov-26 12:01:00 GMT', 60_000],
    ['the date of asctime', 'Sun Nov 29 12:00:05 2026', 5_000],
    ['a date of asctime with one digit', 'Tue Dec  1 12:00:00 2026', 2 * 86_400_000],
    ['a leap second', 'Sun, 29 Nov 2026 12:00:60 GMT', 59_000],
    ['a date in the past', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['a past century', 'Sunday, 06-Nov-94 08:49:37 GMT', 0],
    ['a date far in the future', 'Fri, 31 Dec 9999 23:59:59 GMT', Date.UTC(9999, 11, 31, 23, 59, 59) - NOW],
  ])('may be %s', (_what, header, wait) => {
    expect([retryAfterMs([header], undefined, NOW), retryAfterMs(header, undefined, NOW)]).toEqual([wait, wait]);
  });

  it.each([
    '',
    'soon',
    '-5',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '2026-11-29T12:00:30Z',
    'Sun, 29 Nov 2026 12:00:30',
    'Sun, 29 Nov 2026 12:00:30 CET',
    'Sun, 31 Feb 2026 12:00:30 GMT',
    'Sun, 29 Nov 2026 25:00:30 GMT',
    'Sun, 00 Nov 2026 12:00:30 GMT',
  ])('is ignored if it is %j', (header) => {
    expect(retryAfterMs([header], undefined, NOW)).toBeUndefined();
  });

  it('is ignored if it is absent, and is the longest of several', () => {
    expect(retryAfterMs(undefined, undefined, NOW)).toBeUndefined();
    expect(retryAfterMs(['10', 'soon', '30'], undefined, NOW)).toBe(30_000);
  });

  it('is counted from the date of the answer, so that a wrong clock changes nothing', () => {
    const [date, until] = ['Sun, 29 Nov 2020 12:00:00 GMT', 'Sun, 29 Nov 2020 12:00:45 GMT'];
    expect(retryAfterMs([until], [date], NOW)).toBe(45_000);
    expect(retryAfterMs(['Sun, 29 Nov 2026 12:00:45 GMT'], ['yesterday'], NOW)).toBe(45_000);
  });
});
