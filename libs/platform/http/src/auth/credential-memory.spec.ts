import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { errors, type Principal, type SlipwayError } from '../index.js';
import { CredentialMemory } from './request-guard.js';

const ADDRESS = '192.0.2.1';
let now: number;
let memory: CredentialMemory;
let valid: Set<string>;
let asked: string[];

beforeEach(() => {
  now = 1_000_000;
  jest.spyOn(Date, 'now').mockImplementation(() => now);
  memory = new CredentialMemory();
  valid = new Set();
  asked = [];
});
afterEach(() => {
  jest.restoreAllMocks();
});

const tokenOf = (id: string): string => `slw_${id}_${'s'.repeat(32)}`;

/** Returns `valid`, or the code of the refusal. */
async function outcome(id: string, address = ADDRESS, failure?: () => unknown): Promise<string> {
  try {
    await memory.authenticate(
      id.includes('.') ? id : tokenOf(id),
      () => address,
      async () => {
        asked.push(id);
        if (failure) throw failure();
        if (!valid.has(id)) throw errors.unauthenticated();
        return {} as Principal;
      },
    );
    return 'valid';
  } catch (refusal) {
    return (refusal as SlipwayError).code;
  }
}
async function flood(size: number, prefix = 'f', address = ADDRESS, failure?: () => unknown): Promise<Set<string>> {
  const outcomes = new Set<string>();
  for (let n = 0; n < size; n += 1) outcomes.add(await outcome(`${prefix}${n}`, address, failure));
  return outcomes;
}

it('looks up an unknown credential once a second, and immediately after a token was made', async () => {
  for (let n = 0; n < 5; n += 1) expect(await outcome('a')).toBe('unauthenticated');
  expect(asked).toEqual(['a']);
  valid.add('a');
  now += 999;
  expect(await outcome('a')).toBe('unauthenticated');
  now += 1;
  expect(await outcome('a')).toBe('valid');
  expect(await outcome('b')).toBe('unauthenticated');
  valid.add('b');
  memory.forgetRefusals();
  expect(await outcome('b')).toBe('valid');
});

it('remembers no refusal that was read before a token was made', async () => {
  await outcome('a', ADDRESS, () => {
    memory.forgetRefusals();
    return errors.unauthenticated();
  });
  valid.add('a');
  expect(await outcome('a')).toBe('valid');
});

it('looks up two of a flood of guesses a second, and stops neither known credentials nor other addresses', async () => {
  valid = new Set(['known', 'new', 'other']);
  expect(await outcome('known')).toBe('valid');
  expect(await flood(500)).toEqual(new Set(['unauthenticated', 'rate_limited']));
  expect(asked).toHaveLength(1 + 120);
  expect([await outcome('known'), await outcome('new'), await outcome('new', '192.0.2.2')]).toEqual([
    'valid',
    'rate_limited',
    'valid',
  ]);
  now += 1_000;
  expect(await outcome('other')).toBe('valid');
  await flood(100, 'g');
  expect(asked.filter((one) => one.startsWith('g'))).toHaveLength(2);
});

it('returns with a refusal when to retry', async () => {
  await flood(120);
  await expect(
    memory.authenticate(
      'x',
      () => ADDRESS,
      async () => ({}) as Principal,
    ),
  ).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
});

it('looks up a known credential that is no longer valid, and remembers that it was refused', async () => {
  valid.add('a');
  expect(await outcome('a')).toBe('valid');
  valid.clear();
  for (let n = 0; n < 5; n += 1) expect(await outcome('a')).toBe('unauthenticated');
  expect(asked).toHaveLength(2);
  now += 1_000;
  await flood(200);
  expect(await outcome('a')).toBe('rate_limited');
});

it('does not count valid credentials, outages and missing scopes as guesses', async () => {
  valid = new Set(Array.from({ length: 500 }, (_, n) => `c${n}`));
  expect(await flood(500, 'c')).toEqual(new Set(['valid']));
  expect(await flood(500, 'o', ADDRESS, () => errors.unavailable())).toEqual(new Set(['unavailable']));
  expect(await flood(500, 's', ADDRESS, () => errors.scope_insufficient())).toEqual(new Set(['scope_insufficient']));
});

it('remembers ten thousand credentials of each kind', async () => {
  valid = new Set(Array.from({ length: 10_001 }, (_, n) => `c${n}`));
  for (const credential of valid) await outcome(credential);
  await flood(120);
  // The oldest credential was forgotten, so it counts as a guess again.
  expect([await outcome('c0'), await outcome('c1')]).toEqual(['rate_limited', 'valid']);
});

it('does not remember refusals of JWTs, because their users may be granted access at any moment', async () => {
  expect(await outcome('head.claims.signature')).toBe('unauthenticated');
  valid.add('head.claims.signature');
  expect(await outcome('head.claims.signature')).toBe('valid');
});
