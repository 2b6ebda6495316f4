import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import {
  findPassport,
  publishSlug,
  publishBackend,
  revokePassport,
  unpublishRoute,
  withdrawBackend,
  withdrawSlug,
  supplierContext,
} from '@slipway/dataplane';
import { sealSecret } from '@slipway/platform-database';
import { TcpProxy } from '@slipway/platform-database/testing';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

/**
 * How a gateway starts, with and without Postgres, and how it ends. Each test has its own home, and so its own file.
 */
let installation: GatewayInstallation;
let proxy: TcpProxy;
let tenant: string;
let token: TestToken;
let upstream: TestUpstream;
let other: TestUpstream;
let home: string;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  [upstream, other] = [await TestUpstream.start('one'), await TestUpstream.start('two')];
  const { hostname, port } = new URL(installation.database.gatewayUrl);
  proxy = await TcpProxy.start({ host: hostname, port: Number(port || 5432) });
  await installation.revision(tenant, 'chat', 'chat-1', [upstream]);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
});
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'slipway-gateway-restart-'));
});
afterEach(async () => {
  proxy.restore();
  await installation.closeGateways();
  for (const one of [upstream, other]) one.behaviour = (request, response) => one.answer(request, response);
  upstream.seen.length = other.seen.length = 0;
  rmSync(home, { recursive: true, force: true });
});
afterAll(async () => {
  await installation.destroy();
  await proxy.close();
  await Promise.all([upstream.stop(), other.stop()]);
});

const start = (settings = {}): Promise<Gateway> =>
  installation.gateway(settings, { home, databaseUrl: proxy.through(installation.database.gatewayUrl) });
const chat = (to: Gateway, as: TestToken | string = token, model = 'chat', session?: string): Promise<TestAnswer> =>
  ask(to, as, { body: { model }, headers: session === undefined ? {} : { 'x-session-id': session } });
const readiness = (of: Gateway): Promise<TestAnswer> => ask(of, null, { path: '/readyz', method: 'GET' });
const stored = (): string => readFileSync(path.join(home, 'gateway', 'snapshot.json'), 'utf8');

it('serves all that it knew without Postgres: routes, slugs, credentials, revocations, tokens', async () => {
  await installation.revision(tenant, 'sealed', 'sealed-1', [upstream], 'sk-1');
  await installation.route(tenant, 'sealed', { 'sealed-1': 100 });
  const binding = {
    binding_id: 'bnd_1',
    weight: 1,
    priority: 0,
    upstream: {
      kind: 'supplier' as const,
      base_url: other.url,
      model: 'm',
      credential: sealSecret(installation.keyRing, 'sk-2', supplierContext(tenant, 'bnd_1')),
      guard: { allow: ['http://127.0.0.1:*'] },
    },
  };
  const audience = { visibility: 'shared' as const, tenants: [] };
  const product = { slug: 'acme/chat', tenantId: tenant, productId: 'prd', bindings: [binding], audience };
  await publishSlug(installation.db, product);
  const expired = await installation.token(tenant, '1 hour');
  const first = await start();
  const id = (await chat(first, expired, 'sealed', 'revoked')).headers.get('x-context-passport') as string;
  expect((await chat(first)).status).toBe(200);
  await untilPassing(async () => expect(await findPassport(installation.db, tenant, id)).toBeDefined());
  await revokePassport(installation.db, tenant, id);
  await untilPassing(() => expect(stored()).toContain(id));
  await first.close();
  for (const secret of ['sk-1', 'sk-2', token.text.slice(-40)]) expect(stored()).not.toContain(secret);

  proxy.refuse();
  const second = await start();
  expect((await readiness(second)).body).toMatchObject({ status: 'ready', postgres: 'away', routes: 2 });
  upstream.seen.length = other.seen.length = 0;
  expect((await chat(second)).headers.get('x-slipway-revision')).toBe('chat-1');
  const revoked = await chat(second, token, 'sealed', 'revoked');
  expect([revoked.status, revoked.headers.get('x-affinity')]).toEqual([200, 'off']);
  expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer sk-1');
  expect((await chat(second, token, 'acme/chat')).body.model).toBe('acme/chat');
  expect(other.seen.at(-1)?.headers.authorization).toBe('Bearer sk-2');
  expect((await chat(second, `${token.text}x`)).status).toBe(401);
  await withdrawSlug(installation.db, 'acme/chat');
  await unpublishRoute(installation.db, 'dep_sealed');
  await withdrawBackend(installation.db, 'rev_sealed-1');
});

it('queries Postgres before it serves what was revoked or moved while it was down', async () => {
  const doomed = await installation.token(tenant);
  const first = await start();
  expect((await chat(first, doomed)).status).toBe(200);
  await first.close();
  expect(stored()).toContain(doomed.id);
  await installation.sql('update api_tokens set revoked_at = now() where id = $1', [doomed.id]);
  await installation.revision(tenant, 'chat', 'chat-1', [other]);
  const second = await start();
  // Valid from the first request on, and not only some time later.
  expect((await readiness(second)).body.postgres).toBe('up');
  expect((await chat(second, doomed)).status).toBe(401);
  expect((await chat(second)).body.choices[0].message.content).toBe('answer of two');
  await installation.revision(tenant, 'chat', 'chat-1', [upstream]);
});

it('finds a revision that was withdrawn and republished elsewhere while the gateway was down', async () => {
  const backend = {
    revisionId: 'rev_back-1',
    revisionName: 'back-1',
    tenantId: tenant,
    deploymentId: 'dep_back',
    modelId: 'm',
    credential: null,
    guard: null,
  };
  const at = (to: TestUpstream) => [{ id: 'ins', base_url: to.url, state: 'ready' as const }];
  await publishBackend(installation.db, { ...backend, instances: at(upstream) });
  await installation.route(tenant, 'back', { 'back-1': 100 });
  const first = await start();
  expect((await chat(first, token, 'back')).body.choices[0].message.content).toBe('answer of one');
  await first.close();
  await withdrawBackend(installation.db, 'rev_back-1');
  await publishBackend(installation.db, { ...backend, instances: at(other) });
  const second = await start();
  expect((await chat(second, token, 'back')).body.choices[0].message.content).toBe('answer of two');
  await unpublishRoute(installation.db, 'dep_back');
  await withdrawBackend(installation.db, 'rev_back-1');
});

it('writes what it learned last before it ends', async () => {
  const gateway = await start();
  const late = await installation.token(tenant);
  await untilPassing(() => expect(stored()).toContain('chat-1'));
  const real = globalThis.setTimeout;
  const timers = jest.spyOn(globalThis, 'setTimeout');
  // Changes are gathered before they are written. Here the process ends before that time is over.
  timers.mockImplementation(((work: () => void, ms?: number) => real(work, ms === 50 ? 60_000 : ms)) as typeof real);
  try {
    expect((await chat(gateway, late)).status).toBe(200);
    await gateway.close();
  } finally {
    timers.mockRestore();
  }
  expect(stored()).toContain(late.id);
});

it('accepts no new connection while it drains, finishes the open ones, and reports on them that it drains', async () => {
  const gateway = await start({ drainMs: 20_000 });
  const { port } = gateway;
  let release: () => void = () => undefined;
  upstream.behaviour = async (_request, response) => {
    await new Promise<void>((resolve) => (release = resolve));
    respondJson(response, 200, { choices: [] });
  };
  let text = '';
  const socket = net.connect(port, '127.0.0.1');
  const ended = new Promise((resolve) => socket.on('close', resolve).on('data', (chunk) => (text += String(chunk))));
  const body = '{"model":"chat"}';
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token.text}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await untilPassing(() => expect(upstream.seen).toHaveLength(1));
  let isClosed = false;
  const closed = gateway.close().then(() => (isClosed = true));
  await expect(ask(port, token, { body: { model: 'chat' } })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  socket.write('GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n');
  expect([isClosed, text]).toEqual([false, '']);
  release();
  await Promise.all([ended, closed]);
  // The client's next request must reach another process, so the gateway closes the connection.
  expect(text).toMatch(/^HTTP\/1.1 200 OK[^]*HTTP\/1.1 503 [^]*connection: close[^]*"status":"draining"/i);
});

it('waits no longer than its limit for a request or an idle connection', async () => {
  const gateway = await start({ drainMs: 600 });
  upstream.behaviour = () => undefined;
  const held = chat(gateway);
  await untilPassing(() => expect(upstream.seen).toHaveLength(1));
  const startedAt = performance.now();
  const [answer] = await Promise.all([held, gateway.close()]);
  // Node's timers fire up to a millisecond early.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(598);
  // Nothing of an answer had been sent, so the client gets an error in its place.
  expect([answer.status, answer.body.error.code, answer.headers.get('retry-after')]).toEqual([
    503,
    'gateway_stopping',
    '1',
  ]);
});

it.each([
  ['an OpenAI stream', '/v1/chat/completions', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'],
  [
    'a stream in the middle of an event',
    '/v1/completions',
    'data: {"choices":[{"text":"a"}]}\n\ndata: {"choices":[{"text":"b"}]}\n',
  ],
])('ends %s that it must cut with an error event', async (_what, path, event) => {
  const gateway = await start({ drainMs: 300 });
  upstream.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event);
  };
  const controller = new AbortController();
  const response = await fetch(`http://127.0.0.1:${gateway.port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', stream: true }),
    signal: controller.signal,
  });
  const reader = response.body!.getReader();
  let text = '';
  const ended = (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += Buffer.from(value).toString();
    }
  })().catch(() => undefined);
  await untilPassing(() => expect(text).toContain('choices'));
  await Promise.all([gateway.close(), ended]);
  const last = text.split('\n\n').filter(Boolean).at(-1)!.trim();
  expect(JSON.parse(last.replace(/^data: /, '')).error).toMatchObject({ code: 'gateway_stopping' });
  controller.abort();
});

it('refuses a request whose body has not arrived when its time is over', async () => {
  const gateway = await start({ drainMs: 200 });
  let text = '';
  const socket = net.connect(gateway.port, '127.0.0.1');
  const ended = new Promise((resolve) => socket.on('close', resolve).on('data', (chunk) => (text += String(chunk))));
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token.text}\r\ncontent-length: 99\r\n\r\n{"model":`,
  );
  const inFlight = () => (gateway as unknown as { inference: { inFlight: number } }).inference.inFlight;
  await untilPassing(() => expect(inFlight()).toBe(1));
  await Promise.all([ended, gateway.close()]);
  expect(text).toMatch(/^HTTP\/1.1 503 [^]*gateway_stopping/);
});

it('waits for a stream that lasts longer than a stop took before', async () => {
  const gateway = await start({ drainMs: 20_000 });
  let end: () => void = () => undefined;
  upstream.behaviour = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    await new Promise<void>((resolve) => (end = resolve));
    response.end('data: {"choices":[{"delta":{"content":"b"}}]}\n\ndata: [DONE]\n\n');
  };
  const answer = ask(gateway, token, { body: { model: 'chat', stream: true } });
  await untilPassing(() => expect(upstream.seen).toHaveLength(1));
  let isClosed = false;
  const closed = gateway.close().then(() => (isClosed = true));
  // It is still a gateway of its installation, so that no instance is stopped under its requests.
  await untilPassing(async () =>
    expect(
      await installation.sql(
        `select in_flight from dataplane_inflight where gateway_id = $1 and updated_at > now() - interval '3 seconds'`,
        [gateway.id],
      ),
    ).toEqual([{ in_flight: 1 }]),
  );
  expect(isClosed).toBe(false);
  end();
  expect((await answer).text).toContain('[DONE]');
  await closed;
});

it('records the requests that it cuts at the end', async () => {
  const gateway = await start({ drainMs: 0 });
  upstream.behaviour = () => undefined;
  const held = Array.from({ length: 3 }, () => chat(gateway));
  await untilPassing(() => expect(upstream.seen).toHaveLength(3));
  // Listening ends first, so that closing it leaves the connections no time to emit their end.
  await (gateway as unknown as { listener: { close(): Promise<void> } }).listener.close();
  const [answers] = await Promise.all([Promise.all(held), gateway.close()]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503, 503]);
  const counted = await installation.sql<{ sum: string }>(
    'select sum(cancelled) from dataplane_request_stats where gateway_id = $1',
    [gateway.id],
  );
  expect(counted).toEqual([{ sum: '3' }]);
});
