import { expect, it } from '@jest/globals';
import { withIncluded } from '@slipway/platform-http/auth';
import { defaultExpiry, MAX_TOKEN_MINTERS, mintersOf, namedExpiry, sameLife, tokenObjections } from './token-rules.js';

const now = new Date('2026-01-01T00:00:00Z');
const inDays = (days: number): Date => new Date(now.getTime() + days * 86_400_000);

it('a token expires after 90 days by default', () => {
  expect(defaultExpiry(now)).toEqual(inDays(90));
});

it.each([
  ['the default', ['admin'], ['viewer', 'operator', 'admin'], 90, []],
  ['the longest', ['admin'], ['viewer'], 365, []],
  ['too long', ['admin'], ['viewer'], 365.01, ['expires_at max']],
  ['now', ['admin'], ['viewer'], 0, ['expires_at min']],
  ['past', ['admin'], ['viewer'], -1, ['expires_at min']],
  ['more than its maker has', ['operator'], ['viewer', 'admin'], 1, ['scopes beyond_caller']],
] as const)('the rules judge a token: %s', (_what, callers, scopes, days, expected) => {
  const issues = tokenObjections(
    { scopes: withIncluded(callers) },
    { scopes, expiresAt: inDays(days), minters: [] },
    now,
  );
  expect(issues.map(({ field, code }) => `${field} ${code}`)).toEqual(expected);
});

const person = (id: string) => ({ type: 'person' as const, id });

it('a token names each owner once whose token led to it, and at most as many as allowed', () => {
  const [alice, bob] = [person('alice'), person('bob')];
  expect(mintersOf({ owner: alice, minters: [] })).toEqual([alice]);
  expect(mintersOf({ owner: alice, minters: [bob] })).toEqual([bob, alice]);
  expect(mintersOf({ owner: alice, minters: [alice, bob] })).toEqual([alice, bob]);
  expect(mintersOf({ owner: { type: 'service', id: 'alice' }, minters: [alice] })).toHaveLength(2);
  const issues = (count: number) =>
    tokenObjections(
      { scopes: withIncluded(['admin']) },
      { scopes: ['viewer'], expiresAt: inDays(1), minters: Array.from({ length: count }, (_, n) => person(`p${n}`)) },
      now,
    ).map(({ field, code }) => `${field} ${code}`);
  expect([issues(MAX_TOKEN_MINTERS), issues(MAX_TOKEN_MINTERS + 1)]).toEqual([[], ['owner max']]);
});

it.each([
  ['30d', 30 * 86_400],
  ['1d12h', 36 * 3_600],
  ['2w', 14 * 86_400],
  ['90m', 5_400],
  ['45s', 45],
])('a token that expires in %s lives %i seconds', (expires_in, seconds) => {
  const { expiresAt, field } = namedExpiry({ expires_in }, now)!;
  expect([(expiresAt.getTime() - now.getTime()) / 1_000, field]).toEqual([seconds, 'expires_in']);
});

it('a replacement lives as long as the old token was made for, a year at most', () => {
  const made = (days: number) => ({ created_at: now.toISOString(), expires_at: inDays(days).toISOString() });
  expect([sameLife(made(7), inDays(5)), sameLife(made(3_000_000), now)]).toEqual([inDays(12), inDays(365)]);
});
