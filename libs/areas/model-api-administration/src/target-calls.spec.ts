import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import {
  chatCompletion,
  listModels,
  openAiRoot,
  streamedCompletion,
  unknownModel,
  type CallResult,
} from './target-calls.js';

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

const ask = (
  call: typeof listModels,
  told: typeof answer,
  signal = new AbortController().signal,
): Promise<CallResult> => {
  answer = told;
  return call(
    {
      baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      model: 'm',
      credential: undefined,
      dispatcher,
    },
    signal,
  );
};

const chunk = 'data: {"choices":[{"delta":{}}]}\n\n';

it.each<[string, typeof listModels, typeof answer, boolean]>([
  ['a list', listModels, { body: '{"data":[{"id":"m"}]}' }, true],
  ['a list of others', listModels, { body: '{"data":[null,{"id":"n"}]}' }, true],
  ['no list', listModels, { body: '{"data":{}}' }, false],
  ['no JSON', listModels, { body: 'hello' }, false],
  ['a completion', chatCompletion, { body: '{"choices":[{"message":{}}]}' }, true],
  ['a completion without choices', chatCompletion, { body: '{"choices":[]}' }, false],
  ['a completion that is null', chatCompletion, { body: 'null' }, false],
  ['a redirect', chatCompletion, { status: 302, body: '' }, false],
  ['a stream', streamedCompletion, { type: 'text/event-stream', body: `: hi\n\n${chunk}data: [DONE]\n\n` }, true],
  ['a stream that breaks off', streamedCompletion, { type: 'text/event-stream', body: chunk }, false],
  ['a stream of nothing', streamedCompletion, { type: 'text/event-stream', body: 'data: [DONE]\n\n' }, false],
  ['JSON for a stream', streamedCompletion, { body: '{"choices":[{"message":{}}]}' }, false],
  ['a refusal', unknownModel, { status: 404, body: '{"error":{"message":"no"}}' }, true],
  ['a refusal in plain text', unknownModel, { status: 404, body: 'no' }, false],
  ['an answer to an unknown model', unknownModel, { body: '{"choices":[{"message":{}}]}' }, false],
  ['a wrong key', unknownModel, { status: 401, body: '{"error":{"message":"key"}}' }, false],
])('judges %s', async (_case, call, told, passed) => {
  expect((await ask(call, told)).passed).toBe(passed);
});

it('tells an outage from a wrong answer, reads no endless answer and quotes nothing', async () => {
  expect(await ask(chatCompletion, { status: 503, body: 'secret words' })).toMatchObject({
    passed: false,
    isOutage: true,
    message: 'answered 503 instead of a chat completion',
  });
  expect(await ask(chatCompletion, { status: 400, body: 'secret words' })).toMatchObject({
    passed: false,
    isOutage: false,
  });
  expect((await ask(chatCompletion, { body: 'x'.repeat(5 * 1024 * 1024) })).message).toContain('larger than');
  await expect(ask(chatCompletion, { body: '{}' }, AbortSignal.abort())).rejects.toThrow();
});

it('takes a base URL with or without /v1', () => {
  for (const url of ['http://h', 'http://h/', 'http://h/v1', 'http://h/v1/'])
    expect(openAiRoot(url)).toBe('http://h/v1');
  expect(openAiRoot('http://h/openai/v1')).toBe('http://h/openai/v1');
});
