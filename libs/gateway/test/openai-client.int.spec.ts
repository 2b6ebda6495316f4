import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import OpenAI, {
  APIConnectionError,
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import type { Gateway } from '../src/index.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

/** The official client, unmodified: users of the gateway get what it reads, throws and retries. */
let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let upstream: TestUpstream;
let client: OpenAI;
const messages = [{ role: 'user' as const, content: 'Hello' }];

const clientWith = (options: { apiKey?: string; maxRetries?: number }): OpenAI =>
  new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port}/v1`, apiKey: token.text, maxRetries: 0, ...options });

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstream = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-00001', [upstream]);
  await installation.route(tenant, 'chat', { 'chat-00001': 100 });
  gateway = await installation.gateway();
  client = clientWith({});
});
afterAll(async () => {
  await installation.destroy();
  await upstream.stop();
});
beforeEach(() => {
  upstream.behaviour = (request, response) => upstream.answer(request, response);
  upstream.seen.length = 0;
  upstream.cancelled = 0;
});

const failure = (promise: PromiseLike<unknown>): Promise<APIError> =>
  Promise.resolve(promise).then(
    () => Promise.reject(new Error('did not fail')),
    (error: APIError) => error,
  );

it('completes a chat and shows the headers of the gateway', async () => {
  const {
    data,
    response,
    request_id: requestId,
  } = await client.chat.completions.create({ model: 'chat', messages }).withResponse();
  expect(data.choices[0]?.message.content).toBe('answer of one');
  expect(data.usage?.total_tokens).toBe(12);
  expect(response.headers.get('x-slipway-revision')).toBe('chat-00001');
  expect(requestId).toBe(response.headers.get('x-request-id'));
});

it('streams a chat', async () => {
  const stream = await client.chat.completions.create({ model: 'chat', messages, stream: true });
  let text = '';
  let finish: string | null = null;
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
  }
  expect([text, finish]).toEqual(['one0 one1 one2 ', 'stop']);
});

it('completes text, embeds, lists and retrieves models', async () => {
  upstream.behaviour = (request, response) =>
    request.path === '/v1/completions'
      ? respondJson(response, 200, {
          object: 'text_completion',
          choices: [{ index: 0, text: 'done', finish_reason: 'stop' }],
        })
      : upstream.answer(request, response);
  expect((await client.completions.create({ model: 'chat', prompt: 'x' })).choices[0]?.text).toBe('done');
  expect((await client.embeddings.create({ model: 'chat', input: 'x' })).data[0]?.embedding).toEqual([0.5, -1]);
  const models = [];
  for await (const model of client.models.list()) models.push(model.id);
  expect(models).toEqual(['chat']);
  expect((await client.models.retrieve('chat')).object).toBe('model');
});

it('throws the class of each refusal, with its code, parameter and request id', async () => {
  const wrongKey = await failure(
    clientWith({ apiKey: 'sk-wrong' }).chat.completions.create({ model: 'chat', messages }),
  );
  expect(wrongKey).toBeInstanceOf(AuthenticationError);
  expect(wrongKey).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'invalid_request_error' });
  const unknown = await failure(client.chat.completions.create({ model: 'nobody', messages }));
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown).toMatchObject({ code: 'model_not_found', param: 'model', requestID: expect.any(String) });
  expect(await failure(client.models.retrieve('nobody'))).toBeInstanceOf(NotFoundError);
  upstream.behaviour = (_request, response) =>
    respondJson(response, 400, {
      error: { message: 'bad', type: 'invalid_request_error', param: 'messages', code: null },
    });
  const bad = await failure(client.chat.completions.create({ model: 'chat', messages }));
  expect(bad).toBeInstanceOf(BadRequestError);
  expect(bad.param).toBe('messages');
  upstream.behaviour = (_request, response) => respondJson(response, 500, {});
  expect(await failure(client.chat.completions.create({ model: 'chat', messages }))).toBeInstanceOf(
    InternalServerError,
  );
});

it('throws a rate-limit error and honours Retry-After when it retries', async () => {
  const narrow = await installation.gateway({ requestsPerMinute: 6 });
  const hasty = new OpenAI({ baseURL: `http://127.0.0.1:${narrow.port}/v1`, apiKey: token.text, maxRetries: 0 });
  await hasty.chat.completions.create({ model: 'chat', messages });
  const limited = await failure(hasty.chat.completions.create({ model: 'chat', messages }));
  expect(limited).toBeInstanceOf(RateLimitError);
  expect(limited.code).toBe('rate_limit_exceeded');
  expect(Number(limited.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
});

it('retries what may succeed later and not what cannot', async () => {
  let calls = 0;
  upstream.behaviour = (request, response) => {
    calls += 1;
    if (calls === 1) respondJson(response, 500, { error: { message: 'once' } });
    else upstream.answer(request, response);
  };
  expect((await clientWith({ maxRetries: 1 }).chat.completions.create({ model: 'chat', messages })).object).toBe(
    'chat.completion',
  );
  expect(calls).toBe(2);
  upstream.behaviour = (_request, response) => respondJson(response, 422, { error: { message: 'never' } });
  upstream.seen.length = 0;
  await failure(clientWith({ maxRetries: 2 }).chat.completions.create({ model: 'chat', messages }));
  expect(upstream.seen).toHaveLength(1);
});

it('throws in the middle of a stream that is cut, and cancels upstream when the reader leaves', async () => {
  upstream.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', () => response.destroy());
  };
  const cut = await client.chat.completions.create({ model: 'chat', messages, stream: true });
  let text = '';
  const read = (async () => {
    for await (const chunk of cut) text += chunk.choices[0]?.delta.content ?? '';
  })();
  const error = await failure(read);
  expect(error).toBeInstanceOf(APIError);
  expect(text).toBe('a');

  upstream.behaviour = (request, response) => upstream.stream(request, response, { tokens: 10_000, gapMs: 5 });
  const stream = await client.chat.completions.create({ model: 'chat', messages, stream: true });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  await untilPassing(() => expect(upstream.cancelled).toBe(1));
  const abort = new AbortController();
  upstream.behaviour = () => undefined;
  const waiting = failure(client.chat.completions.create({ model: 'chat', messages }, { signal: abort.signal }));
  await untilPassing(() => expect(upstream.seen.length).toBeGreaterThan(2));
  abort.abort();
  expect(await waiting).toBeInstanceOf(APIUserAbortError);
  await untilPassing(() => expect(upstream.cancelled).toBe(2));
});

it('throws a connection error when the gateway itself is gone', async () => {
  const gone = new OpenAI({ baseURL: 'http://127.0.0.1:1/v1', apiKey: token.text, maxRetries: 0 });
  expect(await failure(gone.models.list())).toBeInstanceOf(APIConnectionError);
});
