import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { GatewayError } from '../gateway.errors.js';
import { TokenEnds } from './token-ends.js';

const HASH = Buffer.alloc(32, 1);
const token = (expiresAt: number | null = null, secretHash = HASH) => ({ id: 'tok_a', secretHash, expiresAt });

let tokens: Map<string, ReturnType<typeof token>>;
let ends: TokenEnds;
let seen: string[];
/** How much the clock of Postgres is ahead. */
let ahead: number;

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
  ahead = 0;
  seen = [];
  tokens = new Map([['tok_a', token()]]);
  ends = new TokenEnds({ now: () => Date.now() + ahead }, (id) => tokens.get(id));
});
afterEach(() => {
  jest.useRealTimers();
});

const request = (name: string) => ({
  end: (error: GatewayError) => void seen.push(`${name} ${error.status} ${error.code}`),
});

it('ends every waiting request of a token that is gone, once, and none of another', () => {
  const [one, two, gone, other] = ['one', 'two', 'gone', 'other'].map(request) as [ReturnType<typeof request>, ...any];
  for (const each of [one, two, gone]) ends.watch({ id: 'tok_a' }, each);
  ends.watch({ id: 'tok_b' }, other);
  ends.release({ id: 'tok_a' }, gone);
  const before = token();
  tokens.delete('tok_a');
  ends.changed('tok_a', before);
  ends.changed('tok_a', before);
  expect(seen).toEqual(['one 401 invalid_api_key', 'two 401 invalid_api_key']);
  expect(ends.endOf(before)?.code).toBe('invalid_api_key');
});

it('ends them if the secret changed, and not if anything else did', () => {
  ends.watch({ id: 'tok_a' }, request('one'));
  tokens.set('tok_a', token(null, Buffer.from(HASH)));
  ends.changed('tok_a', token());
  expect([seen, ends.endOf(token())]).toEqual([[], undefined]);
  tokens.set('tok_a', token(null, Buffer.alloc(32, 2)));
  ends.changed('tok_a', token());
  expect(seen).toEqual(['one 401 invalid_api_key']);
});

it('ends them in the moment in which the token expires, with one timer for all', () => {
  tokens.set('tok_a', token(Date.now() + 30_000));
  for (const name of ['one', 'two']) ends.watch({ id: 'tok_a' }, request(name));
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(29_999);
  expect([seen, ends.endOf(token())]).toEqual([[], undefined]);
  jest.advanceTimersByTime(1);
  expect(seen).toEqual(['one 401 token_expired', 'two 401 token_expired']);
  expect(ends.endOf(token())?.code).toBe('token_expired');
  expect(jest.getTimerCount()).toBe(0);
});

it('follows an expiry that was changed, and a clock that was corrected', () => {
  tokens.set('tok_a', token(Date.now() + 3_600_000));
  ends.watch({ id: 'tok_a' }, request('one'));
  tokens.set('tok_a', token(Date.now() + 1_000));
  ends.changed('tok_a', token(Date.now() + 3_600_000));
  jest.advanceTimersByTime(1_000);
  expect(seen).toEqual(['one 401 token_expired']);
  tokens.set('tok_a', token(Date.now() + 3_600_000));
  ends.watch({ id: 'tok_a' }, request('two'));
  ahead = 3_600_000;
  jest.advanceTimersByTime(60_000);
  expect(seen).toEqual(['one 401 token_expired', 'two 401 token_expired']);
});

it('keeps nothing of a token without waiting requests', () => {
  tokens.set('tok_a', token(Date.now() + 10_000));
  const one = request('one');
  for (let n = 0; n < 100; n += 1) {
    ends.watch({ id: 'tok_a' }, one);
    ends.release({ id: 'tok_a' }, one);
  }
  expect(jest.getTimerCount()).toBe(1);
  jest.advanceTimersByTime(10_000);
  expect([seen, jest.getTimerCount()]).toEqual([[], 0]);
  expect((ends as unknown as { watched: Map<string, unknown> }).watched.size).toBe(0);
});
