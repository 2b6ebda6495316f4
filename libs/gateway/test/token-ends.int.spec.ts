import { once } from 'node:events';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { publishBackend } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { GatewayInstallation, untilPassing, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

/** Requests whose token ends while they are under way. */
let installation: GatewayInstallation;
let gateway: Gateway;
let tenant: string;
let engine: TestUpstream;

const HELD = { max_seconds: 60, estimated_seconds: 10 };

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  engine = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-1', [engine]);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
  gateway = await installation.gateway({}, { metricsToken: 'metrics' });
});
afterAll(async () => {
  await installation.destroy();
  await engine.stop();
});
beforeEach(async () => {
  const generation = await installation.route(tenant, 'held', { 'chat-1': 100 }, undefined, HELD);
  const followed = `select generation::int from dataplane_followed_routes where deployment_id = 'dep_held'`;
  await untilPassing(async () => expect(await installation.sql(followed)).toEqual([{ generation }]));
});
afterEach(() => {
  engine.behaviour = (request, response) => engine.answer(request, response);
  engine.seen.length = 0;
});

const chat = (token: TestToken, model = 'chat', more: object = {}): Promise<TestAnswer> =>
  ask(gateway, token, { body: { model, messages: [], ...more } });
const revoke = (token: TestToken): Promise<unknown> =>
  installation.sql(`update api_tokens set revoked_at = now() where id = $1`, [token.id]);
/** Resolves once the gateway knows that the token has ended. */
const refused = (token: TestToken): Promise<void> =>
  untilPassing(async () => expect((await ask(gateway, token, { path: '/v1/models', method: 'GET' })).status).toBe(401));
const codeIn = ({ status, body }: TestAnswer): string => `${status} ${body.error?.code}`;

async function metric(name: string): Promise<number> {
  const { text } = await ask(gateway, 'metrics', { path: '/metrics', method: 'GET' });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}
const until = (name: string, value: number): Promise<void> =>
  untilPassing(async () => expect([name, await metric(name)]).toEqual([name, value]));
const waiting = (count: number): Promise<void> => until('slipway_gateway_held_requests', count);

/** Sends the beginning of a body; the test sends the rest. */
function begin(token: TestToken, chunk: string): { sent: ClientRequest; answer: Promise<string> } {
  const sent = httpRequest({
    port: gateway.port,
    method: 'POST',
    path: '/v1/chat/completions',
    agent: false,
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
  });
  sent.on('error', () => undefined);
  sent.write(chunk);
  const read = async (): Promise<string> => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    let text = '';
    for await (const piece of response) text += String(piece);
    return `${response.statusCode} ${JSON.parse(text).error?.code}`;
  };
  return { sent, answer: read() };
}

it('a held request ends when its token is revoked; its capacity is free, others wait on, and no engine gets it', async () => {
  const [revoked, kept] = [await installation.token(tenant), await installation.token(tenant)];
  const asked = [chat(revoked, 'held'), chat(revoked, 'held', { stream: true })];
  const other = chat(kept, 'held');
  await waiting(3);
  await revoke(revoked);
  expect((await Promise.all(asked)).map(codeIn)).toEqual(['401 invalid_api_key', '401 invalid_api_key']);
  await waiting(1);
  await until('slipway_gateway_requests_in_flight', 1);
  await installation.route(tenant, 'held', { 'chat-1': 100 });
  expect((await other).status).toBe(200);
  expect(engine.seen).toHaveLength(1);
});

it('a held request ends when its token expires', async () => {
  const token = await installation.token(tenant);
  const asked = chat(token, 'held');
  await waiting(1);
  await installation.sql(`update api_tokens set expires_at = now() + interval '300 milliseconds' where id = $1`, [
    token.id,
  ]);
  expect(codeIn(await asked)).toBe('401 token_expired');
  await waiting(0);
  expect(engine.seen).toEqual([]);
});

it('a body that is still arriving ends with its token, whatever comes after', async () => {
  const token = await installation.token(tenant);
  const { sent, answer } = begin(token, '{"model": "chat", "messages": [');
  await until('slipway_gateway_requests_in_flight', 1);
  await revoke(token);
  expect(await answer).toBe('401 invalid_api_key');
  sent.end(']}');
  await until('slipway_gateway_requests_in_flight', 0);
  expect(engine.seen).toEqual([]);
});

it('an answer that an engine works on is sent to its end, also a stream', async () => {
  const token = await installation.token(tenant);
  let goOn: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => (goOn = resolve));
  engine.behaviour = async (request, response) => {
    if (request.body['stream'] === true)
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    await paused;
    if (request.body['stream'] === true)
      response.end('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    else engine.answer(request, response);
  };
  const asked = [chat(token), chat(token, 'chat', { stream: true })];
  await untilPassing(() => expect(engine.seen).toHaveLength(2));
  await revoke(token);
  await refused(token);
  goOn();
  const answers = await Promise.all(asked);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(answers[1]!.text).toContain('[DONE]');
});

it('a request whose connection is still being made is not sent when its token ends', async () => {
  const token = await installation.token(tenant);
  // It accepts the connection; TLS has not begun, so no request is sent yet.
  const accepted: net.Socket[] = [];
  const silent = net.createServer((socket) => {
    socket.on('error', () => undefined);
    accepted.push(socket);
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as net.AddressInfo;
  await publishBackend(installation.db, {
    ...{ revisionId: 'rev_slow', revisionName: 'slow', tenantId: tenant, deploymentId: 'dep_slow', modelId: 'm' },
    ...{ credential: null, guard: null },
    instances: [{ id: 'ins_slow', base_url: `https://127.0.0.1:${port}`, state: 'ready' }],
  });
  await installation.route(tenant, 'slow', { slow: 100 });
  const asked = untilPassing(async () => {
    const answer = await chat(token, 'slow');
    expect(answer.status).not.toBe(404);
    return answer;
  });
  await untilPassing(() => expect(accepted.length).toBeGreaterThan(0));
  await revoke(token);
  // The connection fails after its time limit, and the retry is refused.
  expect(codeIn(await asked)).toBe('401 invalid_api_key');
  expect(accepted).toHaveLength(1);
  for (const socket of accepted) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

it('a retry is not sent when the token has ended since the first attempt', async () => {
  const token = await installation.token(tenant);
  let fail: () => void = () => undefined;
  const paused = new Promise<void>((resolve) => (fail = resolve));
  engine.behaviour = async (_request, response) => {
    await paused;
    response.writeHead(503).end();
  };
  const asked = chat(token);
  await untilPassing(() => expect(engine.seen).toHaveLength(1));
  await revoke(token);
  await refused(token);
  fail();
  expect(codeIn(await asked)).toBe('401 invalid_api_key');
  expect(engine.seen).toHaveLength(1);
});
