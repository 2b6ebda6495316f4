import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { proxyList } from '@slipway/platform-bounds';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

/** A client without a token guesses tokens, from one address, as fast as possible. */
let installation: GatewayInstallation;
let upstream: TestUpstream;
let tenant: string;
let token: TestToken;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstream = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-1', [upstream]);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
});
afterAll(async () => {
  await installation.destroy();
  await upstream.stop();
});

/** More attempts than an address regains in the seconds since it was refused. */
const MANY = Array.from({ length: 60 }, (_, n) => n + 1);
const guess = (): string => `slw_${randomBytes(8).toString('hex')}_${'x'.repeat(43)}`;
const chat = (to: Gateway, as: TestToken | string, from?: string): Promise<TestAnswer> =>
  ask(to, as, { body: { model: 'chat' }, headers: from ? { 'x-forwarded-for': from } : {} });
async function flood(to: Gateway, from?: string): Promise<TestAnswer | undefined> {
  for (let n = 0; n < 2_000; n += 1) {
    const answer = await chat(to, guess(), from);
    if (answer.status === 429) return answer;
  }
  return undefined;
}

it('a guessing client gets 429 with a Retry-After, and does not stop a known client at the same address', async () => {
  const gateway = await installation.gateway();
  expect((await chat(gateway, token)).status).toBe(200);
  const refused = await flood(gateway, '198.51.100.1');
  expect([refused?.body.error.code, Number(refused?.headers.get('retry-after')) > 0]).toEqual(['rate_limited', true]);
  for (let n = 0; n < 50; n += 1) expect((await chat(gateway, token)).status).toBe(200);
  // No trusted proxy is configured, so a forwarded address does not count.
  const others = await Promise.all(MANY.map((n) => chat(gateway, guess(), `198.51.100.${n}`)));
  expect(others.map(({ status }) => status)).toContain(429);
  // A new token is accepted once the address has recovered.
  const fresh = await installation.token(tenant);
  await untilPassing(async () => expect((await chat(gateway, fresh)).status).toBe(200));
});

it('a guessing client is counted by the address that a trusted proxy saw', async () => {
  const gateway = await installation.gateway({}, { trustedProxies: proxyList('127.0.0.0/8') });
  expect(await flood(gateway, '203.0.113.9, 198.51.100.1')).toBeDefined();
  const others = await Promise.all(MANY.map((n) => chat(gateway, guess(), `198.51.100.${n + 1}`)));
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([401]));
  // An address that the client sends ahead of its proxy's entry does not make it another client.
  const other = await Promise.all(MANY.map((n) => chat(gateway, guess(), `203.0.113.${n}, 198.51.100.1`)));
  expect(other.map(({ status }) => status)).toContain(429);
});
