import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { BodyOf } from '@slipway/sdk';
import { ask, codeIn, consoleAt, signInAt, type BrowserSession } from './console-browser.js';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(180_000);

let stack: Stack;
let session: BrowserSession;
let headers: Record<string, string>;

const CHAT = '/console/gateway/v1/chat/completions';
const body = (more: object = {}) => ({
  model: 'chat',
  messages: [{ role: 'user', content: 'hello' }],
  max_tokens: 2,
  ...more,
});

beforeAll(async () => {
  stack = await Stack.start({ apis: 2, gateway: true });
  session = await signInAt(stack.apiUrl(0), stack.token);
  headers = { cookie: session.cookie, 'x-csrf-token': session.csrf };
  const console = consoleAt(stack.apiUrl(1), session);
  await console.deployments.create({ name: 'chat' });
  const spec = {
    model: { id: 'chat' },
    runtime: { target: 'local', engine: 'sim', args: { tokens: 600, itl_ms: 100 } },
  };
  const { operation } = await console.deployments.rollouts.create('chat', { spec } as BodyOf<'createRollout'>);
  await stack.operation(operation.id);
  await console.deployments.route.set('chat', { revision: 'chat-00001' });
  await until('the gateway serves the deployment', async () => (await chat()).status === 200);
});
afterAll(() => stack?.stop());

const chat = (more: object = {}, api = 0) => ask(stack.apiUrl(api), 'POST', CHAT, { headers, body: body(more) });

it('a session opened at one api is valid at the other, and so is its end', async () => {
  const other = await signInAt(stack.apiUrl(0), stack.token);
  expect((await consoleAt(stack.apiUrl(1), other).whoAmI()).tenant.name).toBe('default');
  await ask(stack.apiUrl(1), 'DELETE', '/console/session', { headers: { cookie: other.cookie } });
  const answer = await ask(stack.apiUrl(0), 'GET', '/console/api/v1/whoami', { headers: { cookie: other.cookie } });
  expect(codeIn(answer)).toBe('401 unauthenticated');
});

it('the playground calls the gateway through either api, and learns which one served it', async () => {
  for (const api of [0, 1]) {
    const answer = await chat({}, api);
    expect([answer.status, answer.body.model]).toEqual([200, 'chat']);
    expect(answer.headers.get('x-slipway-revision')).toBe('chat-00001');
    expect(answer.headers.get('x-affinity')).toBe('off');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
  }
  const asked = await ask(stack.apiUrl(0), 'POST', CHAT, {
    headers: { ...headers, 'x-request-id': 'mine-1' },
    body: body(),
  });
  expect(asked.headers.get('x-request-id')).toBe('mine-1');
  const models = await ask(stack.apiUrl(0), 'GET', '/console/gateway/v1/models', {
    headers: { cookie: session.cookie },
  });
  expect(models.body.data.map(({ id }: { id: string }) => id)).toContain('chat');
});

/** An answer that takes a minute. */
async function slowly(): Promise<{ answer: IncomingMessage; leave: () => void }> {
  const { hostname, port } = new URL(stack.apiUrl(0));
  const sent = httpRequest({
    hostname,
    port,
    method: 'POST',
    path: CHAT,
    agent: false,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  sent.on('error', () => undefined);
  sent.end(JSON.stringify(body({ stream: true, max_tokens: 600 })));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.on('error', () => undefined);
  return { answer, leave: () => sent.destroy() };
}

const inFlight = async (): Promise<number> => {
  const text = await (
    await fetch(`${stack.gatewayUrl}/metrics`, { headers: { authorization: `Bearer ${stack.token}` } })
  ).text();
  return Number(/^slipway_gateway_requests_in_flight (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
};

it('an answer arrives in pieces, and a client that leaves ends it at the gateway', async () => {
  const { answer, leave } = await slowly();
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([
    200,
    expect.stringContaining('text/event-stream'),
  ]);
  const [first] = (await once(answer, 'data')) as [Buffer];
  expect(first.toString()).toContain('data: ');
  expect(first.toString()).not.toContain('[DONE]');
  expect(await inFlight()).toBeGreaterThan(0);
  leave();
  await until('the gateway has let go', async () => (await inFlight()) === 0, 10_000);
});

it('accepts what the gateway accepts, and at most sixteen requests of a token at a time', async () => {
  const large = await chat({ messages: [{ role: 'user', content: 'x'.repeat(2_000_000) }] });
  expect([large.status, large.text.slice(0, 200)]).toEqual([200, expect.stringContaining('chat')]);
  const open = await Promise.all(Array.from({ length: 16 }, slowly));
  expect(open.map(({ answer }) => answer.statusCode)).toEqual(Array(16).fill(200));
  expect(codeIn(await chat())).toBe('429 rate_limited');
  for (const { leave } of open) leave();
  await until('their places are free', async () => (await chat()).status === 200, 10_000);
});

it('only inference can be reached, however a path is written', async () => {
  for (const target of [
    '/console/gateway/metrics',
    '/console/gateway/v1/../metrics',
    '/console/gateway/v1/%2e%2e/metrics',
    '/console/gateway/v1/%2E%2E%2Fmetrics',
    '/console/gateway/v1/..%5cmetrics',
    '/console/gateway/v1/./../metrics',
    '/console/gateway//v1/models',
    '/console/gateway/v1',
    '/console/gateway/v2/models',
    '/console/gateway/v1/@evil.example/',
    '/console/gateway@evil.example/v1/models',
  ])
    expect([target, (await ask(stack.apiUrl(0), 'GET', target, { headers })).status]).toEqual([target, 404]);
  for (const method of ['PUT', 'DELETE', 'PATCH', 'HEAD'])
    expect((await ask(stack.apiUrl(0), method, '/console/gateway/v1/models', { headers })).status).toBe(405);
});

it('requires a session, its csrf token and a body that the gateway would accept', async () => {
  const without = { cookie: session.cookie };
  expect(codeIn(await ask(stack.apiUrl(0), 'POST', CHAT, { headers: without, body: body() }))).toBe('403 csrf_refused');
  const bearer = { authorization: `Bearer ${stack.token}` };
  expect(codeIn(await ask(stack.apiUrl(0), 'POST', CHAT, { headers: bearer, body: body() }))).toBe(
    '401 unauthenticated',
  );
  const large = { ...headers, 'content-length': String(33_554_433), connection: 'close' };
  const { hostname, port } = new URL(stack.apiUrl(0));
  const sent = httpRequest({ hostname, port, method: 'POST', path: CHAT, agent: false, headers: large });
  sent.on('error', () => undefined);
  sent.flushHeaders();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(413);
  sent.destroy();
});

it('reports that the gateway is away', async () => {
  await stack.kill('gateway');
  expect(codeIn(await chat())).toBe('503 unavailable');
});
