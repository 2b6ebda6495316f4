import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { proxyList } from '@slipway/platform-bounds';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { GatewayInstallation, type TestToken } from './installation.js';
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

const guess = (): string => `slw_${randomBytes(8).toString('hex')}_${'x'.repeat(43)}`;
const chat = (to: Gateway, as: TestToken | string, from?: string): Promise<TestAnswer> =>
  ask(to, as, { body: { model: 'chat' }, headers: from ? { 'x-forwarded-for': from } : {} });
/** Returns the answers to guesses that are sent at once. */
const flood = (to: Gateway, size: number, fromOf: (n: number) => string | undefined = () => undefined) =>
  Promise.all(Array.from({ length: size }, (_, n) => chat(to, guess(), fromOf(n))));
const statuses = (answers: readonly TestAnswer[]) => answers.map(({ status }) => status);

it('a flood of guesses gets 429 with a Retry-After, and refuses no valid token at the same address', async () => {
  const gateway = await installation.gateway();
  expect((await chat(gateway, token)).status).toBe(200);
  const fresh = await Promise.all(Array.from({ length: 5 }, () => installation.token(tenant)));
  // No trusted proxy is configured, so a forwarded address does not count.
  const flooding = flood(gateway, 1_000, (n) => `198.51.100.${n % 200}`);
  const valid = await Promise.all([token, ...fresh].map((one) => chat(gateway, one)));
  expect(statuses(valid)).toEqual(Array(6).fill(200));
  const refused = (await flooding).find(({ status }) => status === 429);
  expect([refused?.body.error.code, Number(refused?.headers.get('retry-after')) > 0]).toEqual(['rate_limited', true]);
  expect((await chat(gateway, await installation.token(tenant))).status).toBe(200);
});

it('guesses of the secret of one token do not stop its holder', async () => {
  const gateway = await installation.gateway();
  const { text } = await installation.token(tenant);
  const wrong = (n: number) => text.slice(0, text.lastIndexOf('_') + 1) + String(n).padStart(43, 'x');
  const flooding = Promise.all(Array.from({ length: 300 }, (_, n) => chat(gateway, wrong(n))));
  expect((await chat(gateway, text)).status).toBe(200);
  expect(new Set(statuses(await flooding))).toEqual(new Set([401, 429]));
  expect((await chat(gateway, text)).status).toBe(200);
});

it('a guessing client is counted by the address that a trusted proxy saw', async () => {
  const gateway = await installation.gateway({}, { trustedProxies: proxyList('127.0.0.0/8') });
  expect(statuses(await flood(gateway, 500, () => '203.0.113.9, 198.51.100.1'))).toContain(429);
  const others = await flood(gateway, 60, (n) => `198.51.100.${n + 2}`);
  expect(new Set(statuses(others))).toEqual(new Set([401]));
  // An address that the client sends ahead of its proxy's entry does not make it another client.
  const other = await flood(gateway, 60, (n) => `203.0.113.${n}, 198.51.100.1`);
  expect(statuses(other)).toContain(429);
});

it('a gateway that seems to be behind a proxy without a trusted one says so once', async () => {
  const gateway = await installation.gateway();
  const before = installation.logged.length;
  for (let n = 0; n < 120; n += 1) await chat(gateway, token, '198.51.100.1');
  const hints = installation.logged.slice(before).filter((line) => line.includes('SLIPWAY_TRUSTED_PROXIES=127.0.0.1'));
  expect(hints).toHaveLength(1);
});
