import { afterEach, expect, it, jest } from '@jest/globals';
import { errors, type Principal, type SlipwayError } from '../index.js';
import { AccessWatch } from './access-watch.js';
import { withIncluded } from './token.service.js';

afterEach(() => {
  jest.useRealTimers();
});

const principal = (more: Partial<Principal> = {}): Principal => ({
  tenantId: 'ten',
  tenantName: 'acme',
  isOperatorTenant: false,
  actor: { type: 'token', id: 'tok_1' },
  scopes: withIncluded(['operator']),
  owner: { type: 'person', id: 'alice' },
  minters: [],
  access: [],
  ...more,
});

/** Watches a request, and returns the codes with which it was ended. @param found answers the next identification */
function watching(found: () => Principal, who = principal()) {
  const watch = new AccessWatch();
  const ends: string[] = [];
  const identify = jest.fn(async () => found());
  const stop = watch.watch(who, identify, ({ code }: SlipwayError) => ends.push(code));
  const recheck = async (tokenId: string): Promise<void> => {
    watch.recheck(tokenId);
    await new Promise(setImmediate);
  };
  return { ends, identify, recheck, stop, who };
}
const failing = (failure: Error) => () => {
  throw failure;
};

it.each([
  ['a revoked token', failing(errors.unauthenticated()), 'unauthenticated'],
  ['an expired token', failing(errors.token_expired()), 'token_expired'],
  ['a refused identity', failing(errors.scope_insufficient()), 'scope_insufficient'],
  ['a lost scope', () => principal({ scopes: withIncluded(['viewer']) }), 'scope_insufficient'],
  ['a wrong credential after too many others', failing(errors.rate_limited()), 'rate_limited'],
  ['another tenant', () => principal({ tenantId: 'ten_other' }), 'unauthenticated'],
])('%s ends the request once', async (_what, found, code) => {
  const { ends, recheck } = watching(found);
  await Promise.all([recheck('tok_1'), recheck('')]);
  await recheck('');
  expect(ends).toEqual([code]);
});

it.each([
  ['an outage', failing(errors.unavailable())],
  ['a bug', failing(new Error('oops'))],
  ['more scopes', () => principal({ scopes: withIncluded(['admin']) })],
])('%s ends no request', async (_what, found) => {
  const { ends, recheck, identify } = watching(found);
  await recheck('');
  expect([identify.mock.calls.length, ends]).toEqual([1, []]);
});

it('checks a token when it changes, and a person at each change', async () => {
  const token = watching(() => principal());
  const person = watching(() => principal(), principal({ actor: { type: 'user', id: 'ada' } }));
  for (const { recheck } of [token, person]) for (const id of ['tok_2', 'tok_1', '']) await recheck(id);
  expect([token.identify.mock.calls.length, person.identify.mock.calls.length]).toEqual([2, 3]);
});

it('renews what the access rests on, checks every five seconds, and no longer after the request', async () => {
  jest.useFakeTimers();
  const renewed = principal({
    access: [{ read: { name: 'r', text: '' }, lock: { name: 'l', text: '' }, values: () => [] }],
  });
  const { identify, stop, who } = watching(() => renewed);
  await jest.advanceTimersByTimeAsync(5_000);
  expect([identify.mock.calls.length, who.access]).toEqual([1, renewed.access]);
  stop();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(identify).toHaveBeenCalledTimes(1);
  expect(jest.getTimerCount()).toBe(0);
});
