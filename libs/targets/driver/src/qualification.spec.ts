import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { PromisedTraits } from '@slipway/contracts';
import { Agent } from 'undici';
import {
  checksOf,
  isQualified,
  runCheck,
  type CallableServer,
  type CallResult,
  type CheckResult,
  type QualificationCheck,
} from './qualification.js';

const dispatcher = new Agent();
let server: Server;
let answer: { status?: number; type?: string; body: string };

beforeAll(async () => {
  server = createServer((_request, response) =>
    response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' }).end(answer.body),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(async () => {
  await dispatcher.destroy();
  server.closeAllConnections();
  server.close();
});

const check = (
  name: QualificationCheck,
  target: CallableServer,
  { traits, signal }: { traits?: PromisedTraits; signal?: AbortSignal } = {},
): Promise<CallResult> => runCheck(name, { target, traits, signal: signal ?? new AbortController().signal });

const ask = (
  name: QualificationCheck,
  told: typeof answer,
  { traits, signal }: { traits?: PromisedTraits; signal?: AbortSignal } = {},
): Promise<CallResult> => {
  answer = told;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return check(name, { baseUrl, model: 'm', credential: undefined, dispatcher }, { traits, signal });
};

const engine = (unknownModel: PromisedTraits['unknownModel'], more: Partial<PromisedTraits> = {}): PromisedTraits => ({
  serves: ['chat'],
  unknownModel,
  identity: ['models_list', 'response_model'],
  hasCacheSalt: false,
  readyTimeoutSeconds: 30,
  ...more,
});

const chunk = 'data: {"choices":[{"delta":{}}]}\n\n';

it.each<[string, QualificationCheck, typeof answer, boolean]>([
  ['a list', 'list_models', { body: '{"data":[{"id":"m"}]}' }, true],
  ['a list of others', 'list_models', { body: '{"data":[null,{"id":"n"}]}' }, true],
  ['no list', 'list_models', { body: '{"data":{}}' }, false],
  ['no JSON', 'list_models', { body: 'hello' }, false],
  ['a completion', 'chat_completion', { body: '{"choices":[{"message":{}}]}' }, true],
  ['a completion without choices', 'chat_completion', { body: '{"choices":[]}' }, false],
  ['a completion that is null', 'chat_completion', { body: 'null' }, false],
  ['a redirect', 'chat_completion', { status: 302, body: '' }, false],
  ['a stream', 'streamed_completion', { type: 'text/event-stream', body: `: hi\n\n${chunk}data: [DONE]\n\n` }, true],
  ['a stream that breaks off', 'streamed_completion', { type: 'text/event-stream', body: chunk }, false],
  ['a stream of nothing', 'streamed_completion', { type: 'text/event-stream', body: 'data: [DONE]\n\n' }, false],
  ['JSON for a stream', 'streamed_completion', { body: '{"choices":[{"message":{}}]}' }, false],
  ['a refusal', 'unknown_model', { status: 404, body: '{"error":{"message":"no"}}' }, true],
  ['a refusal with a flat message', 'unknown_model', { status: 404, body: '{"message":"no","type":"x"}' }, true],
  ['a refusal in plain text', 'unknown_model', { status: 404, body: 'no' }, true],
  ['a refusal with a detail', 'unknown_model', { status: 422, body: '{"detail":[{"msg":"no"}]}' }, true],
  ['a refusal with status 200', 'unknown_model', { body: '{"error":"no such model"}' }, true],
  ['a refusal without a text', 'unknown_model', { status: 404, body: '' }, false],
  [
    'a stream that is complete without its terminator',
    'streamed_completion',
    { type: 'text/event-stream', body: `${chunk}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n` },
    true,
  ],
  [
    'a stream that reports an error',
    'streamed_completion',
    { type: 'text/event-stream', body: `${chunk}data: {"error":{"message":"no"}}\n\ndata: [DONE]\n\n` },
    false,
  ],
  ['an answer to an unknown model', 'unknown_model', { body: '{"choices":[{"message":{}}]}' }, false],
  ['a wrong key', 'unknown_model', { status: 401, body: '{"error":{"message":"key"}}' }, false],
])('the check judges %s', async (_case, name, told, passed) => {
  expect((await ask(name, told)).result).toBe(passed ? 'passed' : 'failed');
});

it.each<[string, PromisedTraits, QualificationCheck, typeof answer, CheckResult]>([
  ['a list with its model', engine('ignores'), 'list_models', { body: '{"data":[{"id":"m"}]}' }, 'passed'],
  ['a list of others', engine('ignores'), 'list_models', { body: '{"data":[{"id":"m2"}]}' }, 'failed'],
  [
    'a list of others, where nothing else is declared',
    engine('ignores', { identity: [] }),
    'list_models',
    { body: '{"data":[{"id":"m2"}]}' },
    'failed',
  ],
  [
    'an answer in its name',
    engine('ignores'),
    'chat_completion',
    { body: '{"model":"m","choices":[{"message":{}}]}' },
    'passed',
  ],
  [
    'an answer in another name',
    engine('ignores'),
    'chat_completion',
    { body: '{"model":"o","choices":[{"message":{}}]}' },
    'failed',
  ],
])('identity fails hard: %s', async (_case, traits, name, told, result) => {
  expect((await ask(name, told, { traits })).result).toBe(result);
});

it.each([
  ['the id', '{"data":[{"id":"m"}]}', 'passed'],
  ['an alias', '{"data":[{"id":"x","aliases":["m"]}]}', 'passed'],
  ['the model that an entry comes from', '{"data":[{"id":"x","root":"m"}]}', 'passed'],
  ['a file', '{"data":[{"id":"/srv/models/m.gguf"}]}', 'passed'],
  ['another file', '{"data":[{"id":"/srv/m/x.gguf"}]}', 'failed'],
  ['the end of a longer name', '{"data":[{"id":"org/m"}]}', 'failed'],
])('finds the model in a list by %s', async (_what, body, result) => {
  expect((await ask('list_models', { body }, { traits: engine('ignores') })).result).toBe(result);
});

it('accepts an answer under another name of the model, if the list shows that it is one', async () => {
  const target = (names: string) => {
    const body = `{"model":"x","choices":[{"message":{}}],"data":[${names}]}`;
    return ask('chat_completion', { body }, { traits: engine('ignores') });
  };
  expect((await target('{"id":"x","aliases":["m"]}')).result).toBe('passed');
  expect((await target('{"id":"x"},{"id":"m"}')).result).toBe('failed');
});

it.each<[string, number | undefined, CheckResult, number | undefined]>([
  ['{"data":[{"id":"m","max_model_len":256}]}', undefined, 'failed', 256],
  ['{"data":[{"id":"m","meta":{"n_ctx_train":32768,"n_ctx":256}}]}', undefined, 'failed', 256],
  ['{"data":[{"id":"m","meta":{"n_ctx_train":100000}}]}', undefined, 'passed', 100_000],
  ['{"data":[{"id":"n","context_length":9},{"id":"m","context_length":131072}]}', undefined, 'passed', 131_072],
  ['{"data":[{"id":"only","context_window":5}]}', undefined, 'failed', 5],
  [
    '{"data":[{"id":"m","meta":{"n_ctx_train":200000}}],"default_generation_settings":{"n_ctx":64}}',
    undefined,
    'failed',
    64,
  ],
  ['{"data":[{"id":"m"}]}', 2_048, 'failed', 2_048],
  ['{"data":[{"id":"m","max_model_len":200000}]}', 2_048, 'failed', 2_048],
  ['{"data":[{"id":"m","max_model_len":"?"}]}', undefined, 'not_applicable', undefined],
  ['no list', undefined, 'not_applicable', undefined],
])('compares the promised context with %s and the template %s: %s', async (body, contextLength, result, tokens) => {
  answer = { body };
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = { baseUrl, model: 'm', credential: undefined, dispatcher };
  const traits = engine('rejects', contextLength === undefined ? {} : { contextLength });
  const { signal } = new AbortController();
  const found = await runCheck('context_length', { target, traits, promisedContext: 100_000, signal });
  expect([found.result, found.found?.contextLength]).toEqual([result, tokens]);
});

it('checks the context only for a product that promises one', () => {
  expect(checksOf(undefined, 4_096)).toEqual([
    'list_models',
    'context_length',
    'chat_completion',
    'streamed_completion',
    'unknown_model',
  ]);
  expect(checksOf(engine('rejects'), 4_096)).toContain('context_length');
  expect(checksOf(engine('rejects'))).not.toContain('context_length');
});

it.each<[PromisedTraits['unknownModel'], typeof answer, CheckResult, string]>([
  [
    'ignores',
    { body: '{"model":"m"}' },
    'not_applicable',
    'it responds to any name; its identity is proven in another way',
  ],
  [
    'echoes',
    { body: '{"model":"slipway-qualification-no-such-model"}' },
    'not_applicable',
    'it responds to any name and repeats it; its identity is proven in another way',
  ],
  [
    'ignores',
    { status: 404, body: '{"message":"no"}' },
    'not_applicable',
    'it rejects unknown names, although its declaration says that it responds to any name; its identity is proven in another way',
  ],
  [
    'unknown',
    { status: 400, body: '{"error":"no"}' },
    'not_applicable',
    'its behaviour for unknown names is not declared; it rejects unknown names',
  ],
  ['rejects', { body: '{"model":"m"}' }, 'failed', 'the response is not a rejection (4xx) with an error object'],
  ['ignores', { status: 500, body: 'dead' }, 'failed', 'returned 500 instead of a rejection or a result'],
])('judges the answer to an unknown model, declared as %s: %j', async (declared, told, result, message) => {
  expect(await ask('unknown_model', told, { traits: engine(declared) })).toMatchObject({ result, message });
});

it.each<[string, string, CheckResult]>([
  ['its model', '{"model_path":"/srv/m"}', 'passed'],
  ['its model, further in', '{"default":{"model":"/srv/m"}}', 'passed'],
  ['another', '{"model_path":"/srv/other"}', 'failed'],
  ['nothing', '{"version":1}', 'failed'],
])('judges the identity by an info route that returns %s', async (_case, body, result) => {
  const field = body.includes('default') ? 'default.model' : 'model_path';
  const traits = engine('echoes', { identity: [{ path: '/get_model_info', field, equals: '/srv/m' }] });
  expect(checksOf(traits)).toContain('identity');
  expect((await ask('identity', { body }, { traits })).result).toBe(result);
});

it('chooses the checks of an engine by what it serves', () => {
  expect(checksOf(undefined)).toEqual(['list_models', 'chat_completion', 'streamed_completion', 'unknown_model']);
  const identity: PromisedTraits['identity'] = ['response_model', { path: '/info', field: 'id', equals: 'm' }];
  expect(checksOf(engine('ignores', { serves: ['embeddings', 'rerank'], identity }))).toEqual([
    'warm_up',
    'identity',
    'embeddings',
    'rerank',
    'unknown_model',
  ]);
  expect(checksOf(engine('rejects', { serves: ['completions', 'responses'] }))).toEqual(
    expect.arrayContaining(['text_completion', 'response']),
  );
});

it.each<[QualificationCheck, string, CheckResult]>([
  ['embeddings', '{"model":"m","data":[{"embedding":[1,2]},{"embedding":[3,4]}]}', 'passed'],
  ['embeddings', '{"model":"m","data":[{"embedding":[1,2]},{"embedding":[3]}]}', 'failed'],
  ['embeddings', '{"model":"m","data":[{"embedding":["1"]},{"embedding":["2"]}]}', 'failed'],
  ['rerank', '{"results":[{"relevance_score":0.1},{"relevance_score":0.9}]}', 'failed'],
  ['rerank', '{"model":"m","results":[{"relevance_score":0.1},{"relevance_score":0.9}]}', 'passed'],
  ['rerank', '[{"index":0,"score":0.1},{"index":1,"score":0.9}]', 'passed'],
  ['rerank', '[{"index":0,"score":0.1}]', 'failed'],
])('the check %s judges %s', async (name, body, result) => {
  const traits = engine('ignores', { serves: ['embeddings', 'rerank'] });
  expect((await ask(name, { body }, { traits })).result).toBe(result);
});

it('a model may refuse one of two services of its engine, but not all', async () => {
  const traits = engine('ignores', { serves: ['embeddings', 'rerank'] });
  expect(await ask('rerank', { status: 424, body: '{"error":"not a re-ranker"}' }, { traits })).toMatchObject({
    result: 'not_applicable',
  });
  const alone = engine('ignores', { serves: ['rerank'] });
  expect(await ask('rerank', { status: 424, body: '{"error":"no"}' }, { traits: alone })).toMatchObject({
    result: 'failed',
  });
  const embeddings = { name: 'embeddings', result: 'passed' };
  const refused = { name: 'rerank', result: 'not_applicable' };
  expect(isQualified([embeddings, refused])).toBe(true);
  expect(isQualified([{ ...embeddings, result: 'not_applicable' }, refused])).toBe(false);
});

it('reasoning counts as text, and the message says that usage is missing', async () => {
  const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
  const body = `${event({ reasoning_content: 'hm' })}${event({ content: 'ready' })}${event({})}data: [DONE]\n\n`;
  const told = { type: 'text/event-stream', body };
  expect(await ask('streamed_completion', told, { traits: engine('rejects') })).toMatchObject({
    result: 'passed',
    message: '3 chunks, 2 with text; no usage, although it was requested',
    found: { hasUsage: false },
  });
});

it('distinguishes an outage from a wrong answer, limits the size of an answer and quotes nothing', async () => {
  expect(await ask('chat_completion', { status: 503, body: 'secret words' })).toMatchObject({
    result: 'failed',
    isOutage: true,
    message: 'returned 503 instead of a chat completion',
  });
  expect(await ask('chat_completion', { status: 400, body: 'secret words' })).toMatchObject({
    result: 'failed',
    isOutage: false,
  });
  expect((await ask('chat_completion', { body: 'x'.repeat(5 * 1024 * 1024) })).message).toContain('larger than');
  await expect(ask('chat_completion', { body: '{}' }, { signal: AbortSignal.abort() })).rejects.toThrow();
});

const IDLE_MS = 400;

/** A target whose server handles each connection with `serve`. */
async function targetOf(serve: (socket: Socket) => void) {
  const sockets: Socket[] = [];
  const socketServer = createSocketServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    serve(socket);
  });
  await new Promise<void>((listening) => socketServer.listen(0, '127.0.0.1', listening));
  const agent = new Agent({ headersTimeout: IDLE_MS, bodyTimeout: IDLE_MS });
  return {
    target: {
      baseUrl: `http://127.0.0.1:${(socketServer.address() as AddressInfo).port}`,
      model: 'm',
      credential: undefined,
      dispatcher: agent,
    },
    sockets,
    stop: async () => {
      await agent.destroy();
      for (const socket of sockets) socket.destroy();
      socketServer.close();
    },
  };
}

it.each<[string, (socket: Socket) => void]>([
  ['accepts and never answers', (socket) => void socket.resume()],
  ['drips a byte and falls silent', (socket) => void socket.resume().once('data', () => socket.write('H'))],
  [
    'begins a stream and falls silent',
    (socket) =>
      void socket
        .resume()
        .once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata:')),
  ],
])('a target that %s fails its check after the idle time-out', async (_what, serve) => {
  const { target, stop } = await targetOf(serve);
  const result = await check('streamed_completion', target);
  expect(result).toMatchObject({ result: 'failed', isOutage: true, isSilent: true });
  expect(result.durationMs).toBeLessThan(5 * IDLE_MS);
  await stop();
});

it('the first request has the time limit of a start, a later one its own', async () => {
  const { target, stop } = await targetOf((socket) =>
    socket.resume().once('data', () => {
      setTimeout(() => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}'), 6 * IDLE_MS);
    }),
  );
  const traits = engine('rejects', { readyTimeoutSeconds: 30 });
  expect(await check('warm_up', target, { traits })).toMatchObject({ result: 'passed' });
  expect(await check('chat_completion', target, { traits })).toMatchObject({ result: 'failed', isSilent: true });
  await stop();
});

it('the first request ends when the time limit of a start has passed', async () => {
  const { target, stop } = await targetOf((socket) => void socket.resume());
  const result = await check('warm_up', target, { traits: engine('rejects', { readyTimeoutSeconds: 1 }) });
  expect(result).toMatchObject({ result: 'failed', isSilent: true });
  expect(result.durationMs).toBeLessThan(5_000);
  await stop();
});

it('a call stops at once when its signal aborts', async () => {
  const { target, sockets, stop } = await targetOf((socket) => void socket.resume().once('data', () => asked.abort()));
  const asked = new AbortController();
  const from = performance.now();
  await expect(check('chat_completion', target, { signal: asked.signal })).rejects.toThrow();
  expect(performance.now() - from).toBeLessThan(IDLE_MS);
  if (!sockets[0]!.closed) await once(sockets[0]!, 'close');
  await stop();
});
