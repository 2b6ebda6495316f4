import { describe, expect, it } from '@jest/globals';
import type { GatewayError } from '../gateway.errors.js';
import { ClientLimits, TokenLimits } from './token-limits.js';

function refusal(work: () => void): { status: number; code: string | null; retryAfter: string | undefined } {
  try {
    work();
  } catch (error) {
    const { status, code, headers } = error as GatewayError;
    return { status, code, retryAfter: headers['retry-after'] };
  }
  throw new Error('was not refused');
}

it('accepts ten seconds’ worth at once, then the rate, and says when to come back', () => {
  const limits = new TokenLimits(60, 0);
  for (let n = 0; n < 10; n += 1) limits.enter('a', 0);
  expect(refusal(() => limits.enter('a', 0))).toEqual({ status: 429, code: 'rate_limit_exceeded', retryAfter: '1' });
  limits.enter('b', 0);
  limits.enter('a', 1_000);
  expect(refusal(() => limits.enter('a', 1_500)).status).toBe(429);
  const slow = new TokenLimits(2, 0);
  slow.enter('a', 0);
  expect(refusal(() => slow.enter('a', 0)).retryAfter).toBe('30');
});

it('caps requests in flight, and counts one less when a request ends', () => {
  const limits = new TokenLimits(0, 2);
  limits.enter('a', 0);
  limits.enter('a', 0);
  expect(refusal(() => limits.enter('a', 0)).code).toBe('concurrency_limit_exceeded');
  limits.enter('b', 0);
  limits.leave('a');
  limits.enter('a', 0);
});

it('forgets idle tokens, never those with requests in flight', () => {
  const limits = new TokenLimits(60, 1);
  const kept = (): number => (limits as unknown as { usage: Map<string, unknown> }).usage.size;
  // It sweeps idle ones periodically, starting from its creation.
  const now = Date.now();
  limits.enter('idle', now);
  limits.leave('idle');
  limits.enter('busy', now);
  limits.enter('other', now + 100_000);
  expect(kept()).toBe(3);
  limits.leave('other');
  limits.enter('other', now + 500_000);
  expect(kept()).toBe(2);
  expect(refusal(() => limits.enter('busy', now + 500_000)).code).toBe('concurrency_limit_exceeded');
});

it('saves at most ten seconds’ worth, however long a token was quiet', () => {
  const limits = new TokenLimits(60, 0);
  limits.enter('a', 0);
  for (let n = 0; n < 10; n += 1) limits.enter('a', 90_000);
  expect(refusal(() => limits.enter('a', 90_000)).status).toBe(429);
});

it('neither punishes nor rewards a token when the clock is set back', () => {
  const limits = new TokenLimits(60, 0);
  for (let n = 0; n < 9; n += 1) limits.enter('a', 3_600_000);
  limits.enter('a', 0);
  expect(refusal(() => limits.enter('a', 0)).retryAfter).toBe('1');
  limits.enter('a', 1_000);
});

it('does not charge for a request that it refuses', () => {
  const limits = new TokenLimits(60, 1);
  limits.enter('a', 0);
  for (let n = 0; n < 20; n += 1) expect(refusal(() => limits.enter('a', 0)).code).toBe('concurrency_limit_exceeded');
  limits.leave('a');
  limits.enter('a', 0);
  limits.leave('a');
});

it('limits a tenant to its own rate and concurrency, however many tokens it has', () => {
  const limits = new ClientLimits({
    requestsPerMinute: 6_000,
    maxConcurrencyPerToken: 1,
    limitsOfTenant: (name) => ({ requestsPerMinute: 18, maxConcurrency: name === 'wide' ? 100 : 2 }),
  });
  const of = (id: string, tenantId = 'ten_1', tenantName = 'narrow') => ({
    ...{ id, tenantId, tenantName, ownerKey: id, countsForOwner: false },
  });
  limits.enter(of('a'), 0);
  limits.enter(of('b'), 0);
  expect(refusal(() => limits.enter(of('c'), 0))).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
  for (const id of ['d', 'e', 'f']) limits.enter(of(id, 'ten_2', 'wide'), 0);
  limits.leave(of('b'));
  limits.enter(of('c'), 0);
  limits.leave(of('c'));
  // Three at once are ten seconds' worth. The refused one is not counted for its token.
  expect(refusal(() => limits.enter(of('c'), 0))).toMatchObject({ code: 'rate_limit_exceeded', retryAfter: '4' });
  limits.enter(of('c'), 4_000);
});

it('applies a tenant’s new limits from the next request on, including requests in flight', () => {
  let allowed = { requestsPerMinute: 0, maxConcurrency: 3 };
  const settings = { requestsPerMinute: 0, maxConcurrencyPerToken: 0, limitsOfTenant: () => allowed };
  const limits = new ClientLimits(settings);
  const client = { id: 'a', tenantId: 'ten_1', tenantName: 'acme', ownerKey: 'a', countsForOwner: false };
  limits.enter(client, 0);
  limits.enter(client, 0);
  allowed = { requestsPerMinute: 0, maxConcurrency: 2 };
  expect(refusal(() => limits.enter(client, 0)).code).toBe('concurrency_limit_exceeded');
  allowed = { requestsPerMinute: 0, maxConcurrency: 4 };
  limits.enter(client, 0);
});

describe('tokens that the console makes', () => {
  const settings = {
    requestsPerMinute: 60,
    maxConcurrencyPerToken: 3,
    limitsOfTenant: () => ({ requestsPerMinute: 0, maxConcurrency: 100 }),
  };
  const token = (id: string, countsForOwner: boolean, ownerKey = 'ten_1 person:user:ada') => ({
    ...{ id, tenantId: 'ten_1', tenantName: 'acme', ownerKey, countsForOwner },
  });
  const playground = (id: string, ownerKey?: string) => token(id, true, ownerKey);

  it('share the concurrency of their owner with the owner’s other tokens, however often a person signs in', () => {
    const limits = new ClientLimits(settings);
    limits.enter(playground('p1'), 0);
    limits.enter(playground('p2'), 0);
    limits.enter(token('own', false), 0);
    const refused = refusal(() => limits.enter(playground('p3'), 0));
    expect(refused).toMatchObject({ status: 429, code: 'concurrency_limit_exceeded' });
    // The owner's own token, and other people, are limited by themselves.
    for (let n = 0; n < 2; n += 1) limits.enter(token('own', false), 0);
    limits.enter(playground('p4', 'ten_1 person:user:eve'), 0);
    for (let n = 0; n < 3; n += 1) limits.leave(token('own', false));
    limits.enter(playground('p3'), 0);
    limits.leave(playground('p1'));
    limits.leave(playground('p2'));
    limits.leave(playground('p3'));
    for (let n = 0; n < 3; n += 1) limits.enter(playground(`q${n}`), 0);
  });

  it('share the rate of their owner in the same way', () => {
    const limits = new ClientLimits(settings);
    const pass = (client: ReturnType<typeof token>, now: number): void => {
      limits.enter(client, now);
      limits.leave(client);
    };
    for (let n = 0; n < 4; n += 1) pass(token('own', false), 0);
    for (let n = 0; n < 6; n += 1) pass(playground(`p${n}`), 0);
    expect(refusal(() => limits.enter(playground('p9'), 0))).toMatchObject({
      code: 'rate_limit_exceeded',
      retryAfter: '1',
    });
    for (let n = 0; n < 6; n += 1) pass(token('own', false), 0);
    pass(playground('p9'), 1_000);
  });
});
