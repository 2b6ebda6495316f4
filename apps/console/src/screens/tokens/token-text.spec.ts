import { describe, expect, it } from '@jest/globals';
import { endsSoon, isEndless, prefixOf } from './token-text.js';

const NOW = Date.UTC(2026, 0, 1);
const inDays = (days: number, now: number) => new Date(now + days * 86_400_000).toISOString();

it('derives the beginning of a token from its id', () =>
  expect(prefixOf('tok_0886enij17n8')).toBe('slw_0886enij17n8_…'));

describe('tokens that expire soon', () => {
  it.each([
    ['active', 13, true],
    ['active', 15, false],
    ['revoked', 1, false],
    ['expired', -1, false],
  ] as const)('%s, in %d days: %s', (state, days, soon) =>
    expect(endsSoon({ state, expires_at: inDays(days, NOW) }, NOW)).toBe(soon),
  );
});

it('distinguishes the end of the calendar from a date', () => {
  expect(isEndless('9999-12-31T23:59:59.000Z')).toBe(true);
  expect(isEndless(inDays(365, NOW))).toBe(false);
});
