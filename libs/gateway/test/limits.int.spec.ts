import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

/** An ended request no longer counts for its token and for the gateway, however it ended. */
let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let other: TestToken;
let upstream: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  other = await installation.token(tenant);
  upstream = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-1', [upstream]);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
  gateway = await installation.gateway({
    maxConcurrencyPerToken: 1,
    maxConcurrency: 2,
    maxBodyBytes: 1_000,
    headTimeoutMs: 60_000,
  });
});
afterAll(async () => {
  await installation.destroy();
  await upstream.stop();
});
afterEach(() => {
  upstream.behaviour = (request, response) => upstream.answer(request, response);
  upstream.seen.length = 0;
});

const chat = (as: TestToken = token, more: Parameters<typeof ask>[2] = {}): Promise<TestAnswer> =>
  ask(gateway, as, { body: { model: 'chat' }, ...more });
const outcome = ({ status, body }: TestAnswer): unknown[] => [status, body.error?.code];

/** Makes requests wait upstream; the returned function releases them. */
function hold(): () => void {
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  upstream.behaviour = async (request, response) => {
    await gate;
    upstream.answer(request, response);
  };
  return release;
}

it('admits only as many requests in flight as one token, and the gateway, may have', async () => {
  const release = hold();
  const first = chat();
  await untilPassing(() => expect(upstream.seen).toHaveLength(1));
  expect(outcome(await chat())).toEqual([429, 'concurrency_limit_exceeded']);
  const second = chat(other);
  await untilPassing(() => expect(upstream.seen).toHaveLength(2));
  const third = await installation.token(token.tenantId);
  let refused: TestAnswer | undefined;
  const asked = chat(third).then((answer) => (refused = answer));
  await untilPassing(() => expect(refused !== undefined || upstream.seen.length > 2).toBe(true));
  expect(refused && [...outcome(refused), refused.headers.get('retry-after')]).toEqual([503, 'overloaded', '1']);
  await asked;
  // A client with a wrong token still reads that the token is wrong.
  expect(outcome(await ask(gateway, `${token.text}x`, { body: { model: 'chat' } }))[0]).toBe(401);
  release();
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
  expect((await chat(third)).status).toBe(200);
});

it('limits the tokens that the console makes for a person together with the person’s own, and not other people', async () => {
  const made = [await installation.token(token.tenantId), await installation.token(token.tenantId)] as const;
  const stranger = await installation.token(token.tenantId);
  const ids = [...made, stranger].map(({ id }) => id);
  await installation.sql('update api_tokens set counts_for_owner = true where id = any($1)', [ids]);
  await installation.sql(`update api_tokens set owner_id = 'eve' where id = $1`, [stranger.id]);
  const release = hold();
  const first = chat(made[0]);
  await untilPassing(() => expect(upstream.seen).toHaveLength(1));
  expect(outcome(await chat(made[1]))).toEqual([429, 'concurrency_limit_exceeded']);
  const second = chat(stranger);
  await untilPassing(() => expect(upstream.seen).toHaveLength(2));
  release();
  expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
  expect((await chat(made[1])).status).toBe(200);
});

it('does not count an ended request, however it ended', async () => {
  const endings: [string, () => Promise<unknown>][] = [
    ['well', () => chat()],
    ['as a stream', () => chat(token, { body: { model: 'chat', stream: true } })],
    ['as no JSON', () => chat(token, { body: '{' })],
    ['of another type', () => chat(token, { headers: { 'content-type': 'text/plain' } })],
    ['too large', () => chat(token, { body: { model: 'chat', x: 'y'.repeat(2_000) } })],
    ['without a model', () => chat(token, { body: {} })],
    ['for an unknown model', () => chat(token, { body: { model: 'nobody' } })],
    ['with a flag that is none', () => chat(token, { body: { model: 'chat', stream: 'yes' } })],
    ['in a list of models', () => chat(token, { path: '/v1/models', method: 'GET' })],
    [
      'failed',
      () => {
        upstream.behaviour = (_request, response) => respondJson(response, 500, {});
        return chat();
      },
    ],
    [
      'cut',
      () => {
        upstream.behaviour = (_request, response) => void response.socket?.destroy();
        return chat();
      },
    ],
    [
      'by the client',
      async () => {
        upstream.behaviour = () => undefined;
        const abort = new AbortController();
        const left = chat(token, { signal: abort.signal });
        await untilPassing(() => expect(upstream.seen.length).toBeGreaterThan(0));
        abort.abort();
        await expect(left).rejects.toThrow();
      },
    ],
  ];
  for (const [how, end] of endings) {
    upstream.seen.length = 0;
    await end();
    upstream.behaviour = (request, response) => upstream.answer(request, response);
    // At once, except if only the gateway's socket shows that the client has left.
    await untilPassing(async () => expect([how, (await chat()).status]).toEqual([how, 200]));
  }
  const idle = /^slipway_gateway_requests_in_flight 0$/m;
  await untilPassing(() => expect(gateway.metrics()).toMatch(idle));
  expect(gateway.metrics()).toMatch(/^slipway_gateway_revision_in_flight\{[^}]*revision="chat-1"\} 0$/m);
});

it('counts lists of models against the rate of a token', async () => {
  const narrow = await installation.gateway({ requestsPerMinute: 6 });
  const list = async (): Promise<TestAnswer> => ask(narrow, token, { path: '/v1/models', method: 'GET' });
  expect((await list()).status).toBe(200);
  const refused = await list();
  expect(outcome(refused)).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect((await ask(narrow, other, { path: '/v1/models', method: 'GET' })).status).toBe(200);
});
