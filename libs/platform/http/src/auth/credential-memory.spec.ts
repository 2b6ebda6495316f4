import { beforeEach, expect, it } from '@jest/globals';
import { errors, type Principal, type SlipwayError } from '../index.js';
import { CredentialMemory } from './request-guard.js';

const ADDRESS = '192.0.2.1';
let now: number;
let memory: CredentialMemory;
let valid: Set<string>;
let asked: string[];

beforeEach(() => {
  now = 1_000_000;
  memory = new CredentialMemory(() => now);
  valid = new Set();
  asked = [];
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
/** Sends that many different credentials at once. */
async function flood(size: number, prefix = 'f', address = ADDRESS, failure?: () => unknown): Promise<string[]> {
  return Promise.all(Array.from({ length: size }, (_, n) => outcome(`${prefix}${n}`, address, failure)));
}
const count = (outcomes: readonly string[], wanted: string) => outcomes.filter((one) => one === wanted).length;

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

it('accepts a correct credential during and after a flood of guesses from the same address', async () => {
  valid = new Set(['during', 'after']);
  const flooding = flood(2_000);
  expect(await outcome('during')).toBe('valid');
  const outcomes = await flooding;
  expect([count(outcomes, 'unauthenticated'), count(outcomes, 'rate_limited')]).toEqual([120, 1_880]);
  expect(await outcome('after')).toBe('valid');
});

it('accepts a correct secret while others guess the secret of the same token', async () => {
  const secrets = Array.from({ length: 500 }, (_, n) => `slw_same_${String(n).padStart(32, 'x')}`);
  const right = secrets[250] as string;
  const send = (credential: string, n: number) =>
    memory
      .authenticate(
        credential,
        () => `10.0.${n >> 8}.${n & 255}`,
        async () => {
          if (credential !== right) throw errors.unauthenticated();
          return {} as Principal;
        },
      )
      .then(
        () => 'valid',
        ({ code }: SlipwayError) => code,
      );
  const outcomes = await Promise.all(secrets.map(send));
  // The addresses are all different: the guesses count for the token.
  expect([outcomes[250], count(outcomes, 'unauthenticated'), count(outcomes, 'rate_limited')]).toEqual([
    'valid',
    60,
    439,
  ]);
});

it('returns with the refusal of a wrong credential when to retry, if there were too many', async () => {
  await flood(120);
  await expect(
    memory.authenticate(
      tokenOf('x'),
      () => ADDRESS,
      async () => Promise.reject(errors.unauthenticated()),
    ),
  ).rejects.toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
});

it('looks up a known credential that is no longer valid, and remembers that it was refused', async () => {
  valid.add('a');
  expect(await outcome('a')).toBe('valid');
  valid.clear();
  for (let n = 0; n < 5; n += 1) expect(await outcome('a')).toBe('unauthenticated');
  expect(asked).toHaveLength(2);
});

it('does not count valid and expired credentials, outages and missing scopes as guesses', async () => {
  valid = new Set(Array.from({ length: 500 }, (_, n) => `c${n}`));
  expect(new Set(await flood(500, 'c'))).toEqual(new Set(['valid']));
  expect(new Set(await flood(500, 'o', ADDRESS, () => errors.unavailable()))).toEqual(new Set(['unavailable']));
  const insufficient = await flood(500, 's', ADDRESS, () => errors.scope_insufficient());
  expect(new Set(insufficient)).toEqual(new Set(['scope_insufficient']));
  expect(new Set(await flood(500, 'e', ADDRESS, () => errors.token_expired()))).toEqual(new Set(['token_expired']));
  expect(await outcome('wrong')).toBe('unauthenticated');
});

it('does not remember refusals of JWTs, because their users may be granted access at any moment', async () => {
  expect(await outcome('head.claims.signature')).toBe('unauthenticated');
  valid.add('head.claims.signature');
  expect(await outcome('head.claims.signature')).toBe('valid');
});
