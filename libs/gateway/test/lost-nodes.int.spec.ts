import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { publishBackend, routeFollowers, type PublishedInstance } from '@slipway/dataplane';
import { TcpProxy } from '@slipway/platform-database/testing';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

/**
 * The first is far longer than a test, the second is what a test waits for. Even a busy machine must not stop a stream
 * for that long.
 */
const [LONG_MS, SHORT_MS] = [30_000, 3_000];

jest.setTimeout(180_000);

let installation: GatewayInstallation;
let token: TestToken;
let tenant: string;
let gateways: [patient: Gateway, quick: Gateway, single: Gateway];
let vanished: TestUpstream;
let living: TestUpstream;
/** Between the gateways and the upstream that vanishes. */
let proxy: TcpProxy;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  const gateway = (lostSilenceMs: number, maxAttempts = 3) => installation.gateway({ lostSilenceMs, maxAttempts });
  gateways = [await gateway(LONG_MS), await gateway(SHORT_MS), await gateway(SHORT_MS, 1)];
});
afterAll(() => installation.destroy());
beforeEach(async () => {
  [vanished, living] = [await TestUpstream.start('vanished'), await TestUpstream.start('living')];
  proxy = await TcpProxy.start({ host: '127.0.0.1', port: vanished.port });
});
afterEach(async () => {
  await proxy.close();
  await Promise.all([vanished.stop(), living.stop()]);
});

/** Publishes the states of the vanishing instance and of the other one. */
async function publish(...states: (PublishedInstance['state'] | 'gone')[]): Promise<void> {
  await publishBackend(installation.db, {
    revisionId: 'rev_node-1',
    revisionName: 'node-1',
    tenantId: tenant,
    deploymentId: 'dep_node',
    modelId: 'model-of-node-1',
    instances: states.flatMap((state, at) => {
      const base_url = [`http://127.0.0.1:${proxy.port}`, living.url][at]!;
      return state === 'gone' ? [] : [{ id: ['ins_vanished', 'ins_living'][at]!, base_url, state }];
    }),
    credential: null,
    guard: null,
  });
  // A gateway that follows this generation has read everything published before it.
  const generation = await installation.route(tenant, 'node', { 'node-1': 100 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, 'dep_node', generation)).toEqual({ gateways: 3, behind: 0 }),
  );
}

const chat = (gateway: Gateway, isStream = false) => ask(gateway, token, { body: { model: 'node', stream: isStream } });
const unread = (gateway: Gateway, more: Record<string, unknown> = {}): Promise<Response> =>
  fetch(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token.text}` },
    body: JSON.stringify({ model: 'node', stream: true, ...more }),
  });

/** Opens a stream and collects what arrives of it. */
async function stream(gateway: Gateway): Promise<{ text: string; isOpen: boolean }> {
  const { body } = await unread(gateway);
  const seen = { text: '', isOpen: true };
  const read = async () => {
    for await (const chunk of body!) seen.text += Buffer.from(chunk).toString('utf8');
  };
  void read()
    .catch(() => undefined)
    .finally(() => (seen.isOpen = false));
  return seen;
}
const piece = (text: string): string => `data: {"choices":[{"delta":{"content":"${text}"}}]}\n\n`;

it('retries requests without an answer on another instance when their node is lost, and cuts no answer that has begun', async () => {
  const [patient] = gateways;
  await publish('ready');
  let goOn: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (goOn = resolve));
  vanished.behaviour = async (request, response) => {
    if (!request.text.includes('"stream":true')) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(piece('a'));
    await gate;
    response.end('data: [DONE]\n\n');
  };
  const asked = ['begun', 'waits', 'waits', 'waits'].map((what) => chat(patient, what === 'begun'));
  await untilPassing(() => expect(vanished.seen).toHaveLength(4));
  // No other instance is ready: their answers may still arrive.
  await publish('lost');
  expect([(await chat(patient)).status, vanished.cancelled]).toEqual([503, 0]);
  await publish('lost', 'ready');
  await untilPassing(() => expect(living.seen).toHaveLength(3));
  expect((await Promise.all(asked.slice(1))).map(({ status }) => status)).toEqual([200, 200, 200]);
  await untilPassing(() => expect(vanished.cancelled).toBe(3));
  goOn();
  expect((await asked[0]!).text).toContain('[DONE]');
});

it('ends a silent answer of a lost node if another one is ready, and no answer that continues', async () => {
  const [, quick] = gateways;
  await publish('ready');
  let isOver = false;
  vanished.behaviour = async (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let left = Number(request.body['pieces'] ?? 0); left > 0; left -= 1)
      response.write(piece('a'.repeat(64 * 1024)));
    // The pace of a model.
    for (; !isOver && !response.destroyed; await setTimeout(20)) response.write(piece('a'));
    response.end('data: [DONE]\n\n');
  };
  const silent = await stream(quick);
  await untilPassing(() => expect(silent.text).toContain(piece('a')));
  // Nothing moves on its connection any more, and neither end is notified.
  proxy.vanish();
  const lively = await stream(quick);
  // More than connections buffer: its client has to read before more can arrive.
  const large = await unread(quick, { pieces: 512 });
  await publish('lost');
  const goesOn = async () => {
    const { length } = lively.text;
    await untilPassing(
      () => expect(lively.text.length).toBeGreaterThan(length + 1.25 * (SHORT_MS / 20) * piece('a').length),
      LONG_MS,
    );
  };
  await goesOn();
  expect([silent.isOpen, lively.isOpen]).toEqual([true, true]);
  await publish('lost', 'ready');
  await untilPassing(() => expect(silent.isOpen).toBe(false), LONG_MS);
  expect(silent.text).toMatch(/data: \{"error":\{[^\n]*"code":"upstream_error"[^\n]*\}\n\n$/);
  await goesOn();
  isOver = true;
  expect(await large.text()).toMatch(/data: \[DONE\]\n\n$/);
  await untilPassing(() => expect(lively.isOpen).toBe(false));
  expect(lively.text).toMatch(/data: \[DONE\]\n\n$/);
});

it('sends a request without an answer to the instance that replaces a lost one', async () => {
  const [patient] = gateways;
  await publish('ready');
  vanished.behaviour = () => new Promise<void>(() => undefined);
  const asked = chat(patient);
  await untilPassing(() => expect(vanished.seen).toHaveLength(1));
  await publish('lost');
  await publish('gone');
  expect(vanished.cancelled).toBe(0);
  await publish('gone', 'ready');
  expect((await asked).status).toBe(200);
  await untilPassing(() => expect(vanished.cancelled).toBe(1));
});

it('ends an answer that begins only after its node was lost and is then silent', async () => {
  const [, , single] = gateways;
  await publish('ready');
  let begin: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (begin = resolve));
  vanished.behaviour = async (_request, response) => {
    await gate;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(piece('a'));
  };
  const opening = stream(single);
  await untilPassing(() => expect(vanished.seen).toHaveLength(1));
  // It had its only attempt, so no other instance is tried.
  await publish('lost', 'ready');
  begin();
  const late = await opening;
  await untilPassing(() => expect(late.isOpen).toBe(false), LONG_MS);
  expect(late.text).toMatch(/^data: .*"code":"upstream_error"[^\n]*\}\n\n$/s);
  expect(late.text).toContain(piece('a'));
  expect(living.seen).toHaveLength(0);
});

it('keeps using a doubted instance that answers, and none of its requests is sent elsewhere', async () => {
  const [patient] = gateways;
  await publish('ready');
  let answer: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (answer = resolve));
  vanished.behaviour = async (request, response) => {
    if (request.body['user'] === 'waits') await gate;
    vanished.answer(request, response);
  };
  const waiting = ask(patient, token, { body: { model: 'node', user: 'waits' } });
  await untilPassing(() => expect(vanished.seen).toHaveLength(1));
  await publish('doubted');
  expect((await chat(patient)).status).toBe(200);
  await publish('doubted', 'ready');
  // Longer than the gateway needs to find a server dead.
  await setTimeout(SHORT_MS);
  answer();
  expect((await waiting).status).toBe(200);
  expect(vanished.cancelled).toBe(0);
  for (let n = 0; n < 40; n += 1) expect((await chat(patient)).status).toBe(200);
  expect([vanished.seen.length > 2, living.seen.length > 0]).toEqual([true, true]);
});

it('retries the requests of a doubted instance elsewhere once it does not answer the gateway either', async () => {
  const [patient] = gateways;
  await publish('ready');
  vanished.behaviour = () => new Promise<void>(() => undefined);
  const asked = [chat(patient), chat(patient)];
  await untilPassing(() => expect(vanished.seen).toHaveLength(2));
  // New connections get no answer either.
  proxy.silence();
  await publish('doubted', 'ready');
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200]);
  expect(living.seen).toHaveLength(2);
  for (let n = 0; n < 20; n += 1) expect((await chat(patient)).status).toBe(200);
  expect(living.seen).toHaveLength(22);
});

it('uses an instance that is being ended until another one is ready', async () => {
  const [patient] = gateways;
  await publish('ready');
  await publish('ending');
  for (let n = 0; n < 20; n += 1) expect((await chat(patient)).status).toBe(200);
  expect(vanished.seen).toHaveLength(20);
  await publish('ending', 'ready');
  for (let n = 0; n < 20; n += 1) expect((await chat(patient)).status).toBe(200);
  expect([vanished.seen.length, living.seen.length]).toEqual([20, 20]);
});
