import { expect, it } from '@jest/globals';
import { withIncluded } from '@slipway/platform-auth';
import { defaultExpiry, tokenObjections } from './token-rules.js';

const now = new Date('2026-01-01T00:00:00Z');
const inDays = (days: number): Date => new Date(now.getTime() + days * 86_400_000);

it('expires after 90 days unless told otherwise', () => {
  expect(defaultExpiry(now)).toEqual(inDays(90));
});

it.each([
  ['the default', ['admin'], ['viewer', 'operator', 'admin'], 90, []],
  ['the longest', ['admin'], ['viewer'], 365, []],
  ['too long', ['admin'], ['viewer'], 365.01, ['expires_at max']],
  ['now', ['admin'], ['viewer'], 0, ['expires_at min']],
  ['past', ['admin'], ['viewer'], -1, ['expires_at min']],
  ['more than its maker has', ['operator'], ['viewer', 'admin'], 1, ['scopes beyond_caller']],
] as const)('judges a token: %s', (_what, callers, scopes, days, expected) => {
  const issues = tokenObjections({ scopes: withIncluded(callers) }, scopes, inDays(days), now);
  expect(issues.map(({ field, code }) => `${field} ${code}`)).toEqual(expected);
});
