import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import { identityOf } from './hosted-token.js';
import { ProviderKeys, type ProviderKeyTimes } from './provider-keys.js';

const RULES = { issuer: 'https://id.test', audience: 'slipway' };

let server: Server;
let url: string;
let asked: number;
let answer: () => { status: number; body: string; headers?: Record<string, string> };
let signers: Map<string, { sign: CryptoKey; open: JWK }>;

beforeEach(async () => {
  asked = 0;
  signers = new Map();
  for (const kid of ['a', 'b']) {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
    signers.set(kid, { sign: privateKey, open: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' } });
  }
  publish('a');
  server = createServer((_request, response) => {
    asked += 1;
    const { status, body, headers } = answer();
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
});

afterEach(() => {
  server.closeAllConnections();
  server.close();
});

function publish(...kids: string[]): void {
  answer = () => ({ status: 200, body: JSON.stringify({ keys: kids.map((kid) => signers.get(kid)!.open) }) });
}

function fail(status: number, body = ''): void {
  answer = () => ({ status, body });
}

/** Checks a token of the given key. Returns 'ok' or the error's code. */
async function ask(keys: ProviderKeys, kid: string, header: object = {}): Promise<string> {
  const token = await new SignJWT({ sub: 'u', org_id: 'o' })
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid, ...header })
    .setIssuer(RULES.issuer)
    .setAudience(RULES.audience)
    .setExpirationTime('1m')
    .sign(signers.get(kid)!.sign);
  return identityOf(token, keys, RULES).then(
    () => 'ok',
    (refusal: { code: string }) => refusal.code,
  );
}

const make = (times: Partial<ProviderKeyTimes> = {}): ProviderKeys =>
  new ProviderKeys(url, { cooldownMs: 0, ...times });

it('the keys are fetched once, even if many tokens arrive at once', async () => {
  const keys = make();
  expect(await Promise.all(Array.from({ length: 10 }, () => ask(keys, 'a')))).toEqual(Array(10).fill('ok'));
  expect(asked).toBe(1);
});

it('an unknown key id causes a fetch, and a rotation takes effect at once', async () => {
  const keys = make();
  expect(await ask(keys, 'a')).toBe('ok');
  publish('b');
  expect(await ask(keys, 'b')).toBe('ok');
  expect(asked).toBe(2);
  expect(await ask(keys, 'a')).toBe('unauthenticated');
  expect(asked).toBe(3);
});

it('invented key ids do not cause fetch after fetch', async () => {
  const keys = make({ cooldownMs: 60_000 });
  expect(await ask(keys, 'a')).toBe('ok');
  for (let i = 0; i < 5; i += 1) expect(await ask(keys, 'a', { kid: `invented-${i}` })).toBe('unauthenticated');
  expect(asked).toBe(1);
});

it('a withdrawn key is forgotten once its copy is old', async () => {
  const keys = make({ maxAgeMs: 0, cooldownMs: 60_000 });
  expect(await ask(keys, 'a')).toBe('ok');
  publish('b');
  expect(await ask(keys, 'a')).toBe('unauthenticated');
});

it.each([
  ['an error', 500, ''],
  ['a redirect', 302, ''],
  ['no JSON', 200, '<html>'],
  ['no key set', 200, '{"keys":1}'],
])('%s of the provider counts as an outage: old keys answer, new ones are 503', async (_what, status, body) => {
  const keys = make({ maxAgeMs: 0 });
  fail(status, body);
  expect(await ask(keys, 'a')).toBe('unavailable');
  publish('a');
  const warm = make({ maxAgeMs: 0 });
  expect(await ask(warm, 'a')).toBe('ok');
  fail(status, body);
  const before = asked;
  expect(await ask(warm, 'a')).toBe('ok');
  expect(await ask(warm, 'b')).toBe('unavailable');
  expect(asked - before).toBe(1);
});

it.each([
  ['seconds', () => '20', 20_000],
  ['a date', () => new Date(Date.now() + 20_000).toUTCString(), 20_000],
  ['far too many seconds', () => '99999999999', 60_000],
  ['a value of no form', () => '-1', 1_000],
])('a provider that requests a wait with %s is not asked before its end, up to a minute', async (_what, wait, ms) => {
  const keys = make({ maxAgeMs: 0 });
  expect(await ask(keys, 'a')).toBe('ok');
  const begun = performance.now();
  const clock = jest.spyOn(performance, 'now').mockReturnValue(begun);
  try {
    answer = () => ({ status: 503, body: '', headers: { 'retry-after': wait() } });
    expect(await ask(keys, 'a')).toBe('ok');
    const before = asked;
    // A date has no fractions of a second.
    clock.mockReturnValue(begun + ms - 1_001);
    expect(await ask(keys, 'a')).toBe('ok');
    expect(asked).toBe(before);
    clock.mockReturnValue(begun + ms + 1_000);
    publish('b');
    expect(await ask(keys, 'b')).toBe('ok');
    expect(asked).toBe(before + 1);
  } finally {
    clock.mockRestore();
  }
});

it('a provider that does not answer is given up', async () => {
  server.removeAllListeners('request');
  expect(await ask(make({ timeoutMs: 50 }), 'a')).toBe('unavailable');
});
