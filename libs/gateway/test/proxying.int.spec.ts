import http from 'node:http';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { publishBackend, unpublishRoute } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let one: TestUpstream;
let two: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  [one, two] = [await TestUpstream.start('one'), await TestUpstream.start('two')];
  await installation.revision(tenant, 'chat', 'chat-00001', [one, two], 'sk-upstream');
  await installation.route(tenant, 'chat', { 'chat-00001': 100 });
  gateway = await installation.gateway({ maxBodyBytes: 64 * 1024, passedHeaders: ['x-mine'] });
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all([one.stop(), two.stop()]);
});
afterEach(() => {
  for (const upstream of [one, two]) {
    upstream.behaviour = (request, response) => upstream.answer(request, response);
    upstream.seen.length = 0;
    upstream.cancelled = 0;
  }
});

const seen = () => [...one.seen, ...two.seen];
const asError = (type: string, code: string) => ({ error: { message: expect.any(String), type, param: null, code } });

it('replaces the model and the credential, drops Slipway’s own members, and changes no other byte', async () => {
  const sent =
    '{ "model": "chat",\n "seed": 12345678901234567890, "session_id": "s", "messages": [{"role":"user","content":"h\\u00e9 \\"model\\""}], "temperature": 1.0 }';
  const answer = await ask(gateway, token, {
    body: sent,
    headers: {
      'x-request-id': 'req-1',
      cookie: 'a=b',
      'x-custom': 'dropped',
      'x-mine': 'named',
      'x-session-id': 'secret session',
    },
  });
  expect(answer.status).toBe(200);
  expect(answer.body.choices[0].message.content).toMatch(/answer of (one|two)/);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-request-id': 'req-1',
    'x-slipway-revision': 'chat-00001',
    'x-affinity': 'miss',
    'x-context-passport': expect.stringMatching(/^cp_/),
  });
  const [request] = seen();
  expect(request?.text).toBe(sent.replace('"chat"', '"model-of-chat-00001"').replace(' "session_id": "s",', ''));
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer sk-upstream',
    'x-request-id': expect.not.stringMatching('req-1'),
    'x-mine': 'named',
  });
  expect(JSON.stringify(request?.headers)).not.toMatch(/secret session|dropped/);
  expect(request?.headers.cookie).toBeUndefined();
  expect(JSON.stringify(request)).not.toContain(token.text);
});

it('passes on an answer’s headers, except those of a connection, cookies, and those that only the gateway sets', async () => {
  one.behaviour = two.behaviour = (_request, response) => {
    response.shouldKeepAlive = false;
    respondJson(
      response,
      200,
      { choices: [] },
      {
        'x-custom': 'kept',
        'openai-processing-ms': '7',
        'set-cookie': 'a=b',
        'keep-alive': 'timeout=7',
        'proxy-authenticate': 'Basic',
        trailer: 'x-end',
        upgrade: 'h2c',
        te: 'trailers',
        'proxy-connection': 'close',
        'x-request-id': 'of upstream',
        'x-slipway-revision': 'of upstream',
        'x-context-passport': 'of upstream',
        'x-affinity': 'of upstream',
        'x-slipway-held-ms': 'of upstream',
      },
    );
  };
  const { status, headers } = await ask(gateway, token, { body: { model: 'chat' }, headers: { 'x-request-id': 'r' } });
  const { date: _date, ...shown } = Object.fromEntries(headers);
  expect([status, shown]).toEqual([
    200,
    {
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
      connection: 'keep-alive',
      'keep-alive': 'timeout=620',
      'x-custom': 'kept',
      'openai-processing-ms': '7',
      'x-request-id': 'r',
      'x-slipway-revision': 'chat-00001',
      'x-affinity': 'off',
    },
  ]);
});

it('streams chunk by chunk, and creates a request id if none was sent', async () => {
  const chunks: number[] = [];
  let release: () => void = () => undefined;
  one.behaviour = two.behaviour = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n');
    await new Promise<void>((resolve) => (release = resolve));
    response.end('data: [DONE]\n\n');
  };
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', stream: true }),
  });
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    chunks.push(chunk.length);
    text += Buffer.from(chunk).toString();
    // The first chunk is here while upstream still waits.
    release();
  }
  expect(chunks.length).toBeGreaterThanOrEqual(2);
  expect(text).toContain('[DONE]');
});

it('answers every refusal in the shape that OpenAI clients read', async () => {
  const body = { model: 'chat' };
  const cases: [Parameters<typeof ask>[2] & { token?: TestToken | string | null }, number, string, string][] = [
    [{ body, token: null }, 401, 'invalid_request_error', 'invalid_api_key'],
    [{ body, token: 'sk-something' }, 401, 'invalid_request_error', 'invalid_api_key'],
    [{ body, token: `${token.text}x` }, 401, 'invalid_request_error', 'invalid_api_key'],
    [{ body, token: `slw_unknown_${'x'.repeat(43)}` }, 401, 'invalid_request_error', 'invalid_api_key'],
    [{ body: '{"model":' }, 400, 'invalid_request_error', 'invalid_json'],
    [{ body: '[{"model":"chat"}]' }, 400, 'invalid_request_error', 'invalid_json'],
    [{ body: '' }, 400, 'invalid_request_error', 'invalid_json'],
    [{ body: { model: 'chat', x: 'y'.repeat(70_000) } }, 413, 'invalid_request_error', 'body_too_large'],
    [{ body, headers: { 'content-type': 'text/plain' } }, 415, 'invalid_request_error', 'unsupported_media_type'],
    [{ body, method: 'PUT' }, 405, 'invalid_request_error', 'method_not_allowed'],
    [{ body, path: '/v1/audio/speech' }, 404, 'invalid_request_error', 'unknown_url'],
    [{ path: '/', method: 'GET' }, 404, 'invalid_request_error', 'unknown_url'],
  ];
  for (const [{ token: other = token, ...request }, status, type, code] of cases) {
    const answer = await ask(gateway, other, request);
    expect({ status: answer.status, body: answer.body }).toEqual({ status, body: asError(type, code) });
    expect(answer.headers.get('x-request-id')).toBeTruthy();
  }
  expect((await ask(gateway, token, { body: {} })).body.error).toMatchObject({
    param: 'model',
    code: 'missing_required_parameter',
  });
  expect((await ask(gateway, token, { body: { model: 7 } })).body.error).toMatchObject({
    param: 'model',
    code: 'invalid_value',
  });
  expect((await ask(gateway, token, { body: { model: 'nobody' } })).body.error).toMatchObject({
    param: 'model',
    code: 'model_not_found',
  });
  expect((await ask(gateway, token, { body, method: 'DELETE' })).headers.get('allow')).toBe('POST, OPTIONS');
  expect((await ask(gateway, null, { body })).headers.get('www-authenticate')).toContain('Bearer');
  expect(seen()).toHaveLength(0);
});

it('refuses an expired token, and a body that grows over the limit without announcing it', async () => {
  const expired = await installation.token(token.tenantId, '-1 second');
  expect((await ask(gateway, expired, { body: { model: 'chat' } })).body.error.code).toBe('token_expired');

  const refused = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request = http.request(
      {
        port: gateway.port,
        path: '/v1/completions',
        method: 'POST',
        headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
      },
      resolve,
    );
    request.on('error', reject);
    request.write('{"prompt":"');
    for (let part = 0; part < 20; part += 1) request.write('x'.repeat(8 * 1024));
    request.end();
  });
  expect(refused.statusCode).toBe(413);
  refused.resume();
});

it('answers headers that are too large, and input that is not HTTP, without failing itself', async () => {
  const raw = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = net.connect(gateway.port, '127.0.0.1', () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('close', () => resolve(answer));
    });
  expect(await raw(`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 431[^]*headers_too_large/,
  );
  expect(await raw('hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400[^]*"invalid_request"/);
});

it('retries a 503, a 502 and a refused connection on the other instance, and nothing else', async () => {
  for (const status of [503, 502]) {
    one.behaviour = (_request, response) => respondJson(response, status, { error: { message: 'busy' } });
    for (let round = 0; round < 6; round += 1)
      expect((await ask(gateway, token, { body: { model: 'chat' } })).body.choices[0].message.content).toBe(
        'answer of two',
      );
  }
  one.seen.length = two.seen.length = 0;
  one.behaviour = two.behaviour = (_request, response) =>
    respondJson(response, 500, { error: { message: 'broken', type: 'server_error', param: null, code: 'x' } });
  const failed = await ask(gateway, token, { body: { model: 'chat' } });
  expect(failed.status).toBe(500);
  expect(failed.body.error.message).toBe('broken');
  expect(failed.headers.get('x-slipway-revision')).toBe('chat-00001');
  expect(seen()).toHaveLength(1);
});

it('converts an upstream’s odd error to the usual shape, and keeps a good one', async () => {
  one.behaviour = two.behaviour = (_request, response) =>
    respondJson(response, 400, { object: 'error', message: 'too long', code: 40 });
  expect((await ask(gateway, token, { body: { model: 'chat' } })).body).toEqual({
    error: { message: 'too long', type: 'invalid_request_error', param: null, code: 40 },
  });
  one.behaviour = two.behaviour = (_request, response) => {
    response.writeHead(429, { 'retry-after': '7', 'content-type': 'text/html' }).end('<b>slow down</b>');
  };
  const limited = await ask(gateway, token, { body: { model: 'chat' } });
  expect(limited.status).toBe(429);
  expect(limited.headers.get('retry-after')).toBe('7');
  expect(limited.body.error.message).toBe('slow down');
});

it('never retries after the first byte: a cut stream ends with an error event', async () => {
  one.behaviour = two.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"a"}}]}\n\n', () => response.destroy());
  };
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', stream: true }),
  });
  let text = '';
  const read = (async () => {
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      text += Buffer.from(chunk).toString();
  })();
  await expect(read).rejects.toThrow();
  expect(text).toContain('"upstream_error"');
  expect(seen()).toHaveLength(1);
});

it('cancels upstream when the client leaves, streaming or waiting', async () => {
  one.behaviour = two.behaviour = (request, response) => {
    if (request.body['stream'] === true) void one.stream(request, response, { tokens: 10_000, gapMs: 5 });
  };
  for (const stream of [true, false]) {
    const abort = new AbortController();
    const asked = ask(gateway, token, { body: { model: 'chat', stream }, signal: abort.signal });
    await untilPassing(() => expect(seen()).toHaveLength(1));
    abort.abort();
    await expect(asked).rejects.toThrow();
    await untilPassing(() => expect(one.cancelled + two.cancelled).toBe(1));
    one.seen.length = two.seen.length = one.cancelled = two.cancelled = 0;
  }
});

it('slows upstream down to the pace of the client instead of buffering its answer', async () => {
  let written = 0;
  let isBlocked = false;
  one.behaviour = two.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const piece = Buffer.alloc(64 * 1024, ':');
    piece.write('\n', piece.length - 1);
    const more = (): void => {
      while (written < 512) {
        written += 1;
        if (!response.write(piece)) {
          isBlocked = true;
          response.once('drain', more);
          return;
        }
        isBlocked = false;
      }
      response.end('\n\ndata: {"choices":[]}\n\ndata: [DONE]\n\n');
    };
    more();
  };
  const request = http.request({
    port: gateway.port,
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
  });
  request.end(JSON.stringify({ model: 'chat', stream: true }));
  const response = await new Promise<http.IncomingMessage>((resolve) => request.on('response', resolve));
  response.pause();
  let before = -1;
  await untilPassing(async () => {
    before = written;
    // Answers as many other requests as would have given time for all of this one.
    for (let round = 0; round < 50; round += 1) await ask(gateway, null, { path: '/healthz', method: 'GET' });
    expect(written).toBe(before);
  }, 20_000);
  expect([written < 256, isBlocked]).toEqual([true, true]);
  let received = 0;
  for await (const chunk of response) received += (chunk as Buffer).length;
  expect(received).toBe(512 * 64 * 1024 + '\n\ndata: {"choices":[]}\n\ndata: [DONE]\n\n'.length);
});

it('distinguishes a deployment without a route from an unknown one, and both from one without instances', async () => {
  const tenant = token.tenantId;
  await installation.route(tenant, 'bare', {});
  await installation.revision(tenant, 'empty', 'empty-00001', []);
  await installation.route(tenant, 'empty', { 'empty-00001': 100 });
  const listed = await untilPassing(async () => {
    const answer = await ask(gateway, token, { body: { model: 'empty' } });
    expect(answer.status).toBe(503);
    return ask(gateway, token, { path: '/v1/models', method: 'GET' });
  });
  const bare = await ask(gateway, token, { body: { model: 'bare' } });
  expect({ status: bare.status, code: bare.body.error.code, retryAfter: bare.headers.get('retry-after') }).toEqual({
    status: 503,
    code: 'unavailable',
    retryAfter: '1',
  });
  expect(bare.body.error.message).toBe(
    "The deployment 'bare' has no route. Set one with PUT /api/v1/deployments/bare/route, or roll out with strategy 'immediate'.",
  );
  expect((await ask(gateway, token, { body: { model: 'empty' } })).body.error.message).toContain('has no instance');
  expect(listed.body).toEqual({
    object: 'list',
    data: [expect.objectContaining({ id: 'chat', object: 'model' }), expect.objectContaining({ id: 'empty' })],
  });
  expect((await ask(gateway, token, { path: '/v1/models/chat', method: 'GET' })).body).toMatchObject({
    id: 'chat',
    owned_by: 'slipway',
  });
  expect((await ask(gateway, token, { path: '/v1/models/bare', method: 'GET' })).status).toBe(404);
  expect((await ask(gateway, null, { path: '/v1/models', method: 'GET' })).status).toBe(401);
  await unpublishRoute(installation.db, 'dep_bare');
  await untilPassing(async () => expect((await ask(gateway, token, { body: { model: 'bare' } })).status).toBe(404));
});

it('keeps tenants apart: the same name is another deployment, or none', async () => {
  const other = await installation.token(await installation.tenant('other'));
  expect((await ask(gateway, other, { body: { model: 'chat' } })).body.error.code).toBe('model_not_found');
  expect((await ask(gateway, other, { path: '/v1/models', method: 'GET' })).body.data).toEqual([]);
});

it('connects only to what the operator allows for addresses that a tenant named', async () => {
  const backend = {
    revisionName: 'adopted-00001',
    tenantId: token.tenantId,
    deploymentId: 'dep_adopted',
    modelId: 'm',
    credential: null,
  };
  const instances = [{ id: 'i', base_url: `${one.url}/v1`, state: 'ready' as const }];
  await publishBackend(installation.db, {
    ...backend,
    revisionId: 'rev_adopted-00001',
    instances,
    guard: { allow: ['https://*.example.com'] },
  });
  await installation.route(token.tenantId, 'adopted', { 'adopted-00001': 100 });
  const refused = await untilPassing(async () => {
    const answer = await ask(gateway, token, { body: { model: 'adopted' } });
    expect(answer.status).not.toBe(404);
    return answer;
  });
  expect({ status: refused.status, code: refused.body.error.code }).toEqual({ status: 502, code: 'upstream_error' });
  expect(seen()).toHaveLength(0);
  await publishBackend(installation.db, {
    ...backend,
    revisionId: 'rev_adopted-00001',
    instances,
    guard: { allow: ['http://127.0.0.1:*'] },
  });
  await untilPassing(async () => expect((await ask(gateway, token, { body: { model: 'adopted' } })).status).toBe(200));
  expect(one.seen.at(-1)?.path).toBe('/v1/chat/completions');
});

it('reports that it is alive and ready, and shows metrics to no caller without a right to them', async () => {
  expect((await ask(gateway, null, { path: '/healthz', method: 'GET' })).body).toEqual({ status: 'ok' });
  expect((await ask(gateway, null, { path: '/readyz', method: 'GET' })).body).toMatchObject({
    status: 'ready',
    postgres: 'up',
  });
  expect((await ask(gateway, null, { path: '/metrics', method: 'GET' })).status).toBe(401);
  expect((await ask(gateway, token, { path: '/metrics', method: 'GET' })).status).toBe(401);
  const text = gateway.metrics();
  expect(text).toMatch(/slipway_gateway_attempts_total\{tenant="ten_\w+",revision="chat-00001",class="ok"\} [1-9]/);
  expect(text).toMatch(
    /slipway_gateway_ttft_milliseconds_bucket\{tenant="ten_\w+",revision="chat-00001",le="\+Inf"\} [1-9]/,
  );
});
