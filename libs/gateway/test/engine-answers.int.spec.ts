import net from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

const DONE = 'data: [DONE]\n\n';
/** An engine's statements about its host reach no client. */
const FILE = '/models/llama-3.gguf';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let upstream: TestUpstream;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstream = await TestUpstream.start('one');
  await installation.revision(tenant, 'chat', 'chat-00001', [upstream]);
  await installation.route(tenant, 'chat', { 'chat-00001': 100 });
  gateway = await installation.gateway({ ejection: { failures: 100_000, baseMs: 1, mostMs: 1 } });
});
afterAll(async () => {
  await installation.destroy();
  await upstream.stop();
});
beforeEach(() => {
  upstream.behaviour = (request, response) => upstream.answer(request, response);
  upstream.seen.length = 0;
});

const asked = (path = '/v1/chat/completions', more: object = {}): Promise<TestAnswer> =>
  ask(gateway, token, { path, body: { model: 'chat', ...more } });
const everything = (answer: TestAnswer): string => JSON.stringify([...answer.headers]) + answer.text;
/** Answers with raw bytes, so that no layer between corrects them. */
function raw(head: string, body: string | Buffer = ''): void {
  upstream.behaviour = (_request, response) => {
    const socket = response.socket as net.Socket;
    socket.write(
      Buffer.concat([Buffer.from(`HTTP/1.1 ${head}\r\nconnection: close\r\n\r\n`, 'latin1'), Buffer.from(body)]),
    );
    socket.end();
  };
}

it.each(['/v1/chat/completions', '/v1/completions', '/v1/embeddings'])(
  '%s answers with the requested model name, with its length, and without the engine’s headers',
  async (path) => {
    const answer = {
      choices: [{ index: 0, text: `"model":"${FILE}"`.slice(0, 8) }],
      data: [],
      model: FILE,
      created: 1,
    };
    const text = JSON.stringify(answer);
    upstream.behaviour = (_request, response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
        server: 'llama.cpp',
        'access-control-allow-origin': '*',
        'x-model-file': FILE,
      });
      response.end(text);
    };
    const shown = await asked(path);
    expect(shown.text).toBe(text.replace(FILE, 'chat'));
    expect(shown.headers.get('content-length')).toBe(String(Buffer.byteLength(shown.text)));
    expect(everything(shown)).not.toContain('/models');
    for (const name of ['server', 'access-control-allow-origin', 'x-model-file'])
      expect([name, shown.headers.get(name)]).toEqual([name, null]);
  },
);

it('an answer in pieces is renamed too, wherever they end', async () => {
  const text = JSON.stringify({ choices: [{ text: 'é'.repeat(5_000) }], model: FILE, usage: { prompt_tokens: 1 } });
  const cut = text.indexOf('"model"') + 4;
  upstream.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
    response.write(text.slice(0, cut), () => response.end(text.slice(cut)));
  };
  const shown = await asked();
  expect(shown.text).toBe(text.replace(FILE, 'chat'));
});

it.each([1, 7, 50, 100_000])('every event of a stream is renamed, in pieces of %i bytes', async (size) => {
  const event = (more: object): string => `data: ${JSON.stringify({ choices: [more], model: FILE, object: 'c' })}\n\n`;
  const stream = `: hi\r\n\r\n${event({ delta: { content: 'data: "model":"a"' } })}${event({ x: 'é' })}id: 1\rdata:{"model":"${FILE}"}\r\rdata: [DONE]\n\nda`;
  upstream.behaviour = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', server: 'x' });
    const bytes = Buffer.from(stream);
    for (let at = 0; at < bytes.length; at += size)
      await new Promise<void>((resolve) => response.write(bytes.subarray(at, at + size), () => resolve()));
    response.end();
  };
  const shown = await asked(undefined, { stream: true });
  expect(shown.text).toBe(stream.replaceAll(FILE, 'chat'));
  expect(shown.headers.get('server')).toBeNull();
});

it('an event of a stream is renamed even if it spells the model differently than the previous one', async () => {
  const events = [
    `{"model":"${FILE}","choices":[]}`,
    `{"x":{"model":"mine"}}`,
    `{"x":{"model":"mine"}}`,
    `{"model": "${FILE}"}`,
    `{"model":"${FILE}.2","x":"${FILE.length}"}`,
    `{"model":7}`,
    `{"model":77}`,
    `{"model":"chat","é":1}`,
    `{"model":"chat"}`,
    `{"model":"${FILE}","x":{"model":"mine"}}`,
    `{"mod\\u0065l":"${FILE}","x":"model"}`,
  ];
  upstream.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map((event) => `data: ${event}\n\n`).join('') + DONE);
  };
  const shown = (await asked(undefined, { stream: true })).text.split('\n\n').slice(0, -2);
  expect(shown.map((event) => event.slice('data: '.length))).toEqual(
    events.map((event) => event.replace(/("mod(?:e|\\u0065)l": ?)("\/[^"]*"|7+)/, '$1"chat"')),
  );
});

it('a token of a stream does not wait for the end of its line', async () => {
  let release: () => void = () => undefined;
  upstream.behaviour = async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: {"choices":[{"delta":{"content":"first');
    await new Promise<void>((resolve) => (release = resolve));
    response.end(`"}}],"model":"${FILE}"}\n\n${DONE}`);
  };
  const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'chat', stream: true }),
  });
  let text = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.includes('first')) release();
  }
  expect(text).toBe(`data: {"choices":[{"delta":{"content":"first"}}],"model":"chat"}\n\n${DONE}`);
});

it.each([
  ['of the usual shape', { error: { message: `cannot open ${FILE}`, type: 'x', param: null, code: 500, n_ctx: 7 } }],
  ['of another one', { message: `no model ${FILE}`, model: FILE }],
  ['with a file as a name', { error: { message: 'm', [FILE]: 7 } }],
  ['with more in it', { error: { message: 'm', model: FILE, trace: { file: FILE } }, model: FILE }],
])('an error %s names no file', async (_what, body) => {
  upstream.behaviour = (_request, response) => respondJson(response, 500, body, { server: 'x', 'x-file': FILE });
  const shown = await asked();
  expect(shown.status).toBe(500);
  expect(everything(shown)).not.toContain('llama-3');
  if ('error' in body && 'n_ctx' in body.error)
    expect(shown.body).toEqual({ error: { ...body.error, message: 'cannot open [path]' } });
});

it('an error that is text names no file, and has the client’s name for the model', async () => {
  raw('422 Unprocessable Entity\r\ncontent-type: text/plain', `${FILE}: model-of-chat-00001 cannot do that`);
  const shown = await asked();
  expect([shown.status, shown.body.error.message]).toEqual([422, '[path]: chat cannot do that']);
});

it.each([
  ['401 Unauthorized', '{"error":{"message":"Incorrect key sk-123"}}', 'upstream_credential_refused'],
  ['403 Forbidden', '{"detail":"no"}', 'upstream_credential_refused'],
  ['404 Not Found', '{"error":{"message":"The model `x` does not exist."}}', 'upstream_model_missing'],
  ['400 Bad Request', '{"error":{"message":"model \'x\' not found"}}', 'upstream_model_missing'],
  ['404 Not Found', '{"detail":"Not Found"}', 'upstream_not_found'],
  ['307 Temporary Redirect\r\nlocation: http://elsewhere.example/', '', 'upstream_redirect'],
])('a fault of the operator’s configuration is 502 with a code of its own: %s', async (status, body, code) => {
  raw(`${status}\r\ncontent-type: application/json`, body);
  const shown = await asked();
  expect([shown.status, shown.body.error.code, shown.text.includes('sk-123')]).toEqual([502, code, false]);
});

it('an error keeps its code, its parameter and the times for a retry', async () => {
  const error = { message: 'm', type: 't', param: 'n', code: 40013, limit: 3 };
  upstream.behaviour = (_request, response) =>
    respondJson(
      response,
      429,
      { error },
      { 'retry-after-ms': '70', 'x-should-retry': 'true', 'x-ratelimit-reset': '1s' },
    );
  const shown = await asked();
  expect([shown.status, shown.body.error]).toEqual([429, error]);
  expect(['retry-after-ms', 'x-should-retry', 'x-ratelimit-reset'].map((name) => shown.headers.get(name))).toEqual([
    '70',
    'true',
    '1s',
  ]);
});

it('an empty answer becomes an upstream error', async () => {
  raw('200 OK\r\ncontent-type: application/json');
  const shown = await asked();
  expect([shown.status, shown.body.error.code]).toEqual([502, 'upstream_error']);
});

it('an event in several lines is renamed', async () => {
  const text = JSON.stringify({ id: 'x', model: FILE, choices: [] }, null, 2);
  const stream = `data: ${text.replaceAll('\n', '\ndata: ')}\n\ndata: [DONE]\n\n`;
  raw('200 OK\r\ncontent-type: text/event-stream', stream);
  expect((await asked(undefined, { stream: true })).text).toBe(stream.replace(FILE, 'chat'));
});

it('the list of models shows the names that clients can request', async () => {
  const list = await ask(gateway, token, { path: '/v1/models', method: 'GET' });
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual(['chat']);
  expect(upstream.seen).toHaveLength(0);
});

it('requests no coded answer, and decodes one that comes anyway', async () => {
  await ask(gateway, token, { body: { model: 'chat' }, headers: { 'accept-encoding': 'gzip' } });
  expect(upstream.seen[0]?.headers['accept-encoding']).toBe('identity');
  const json = { model: FILE, choices: [{ message: { content: 'a' }, finish_reason: 'stop' }] };
  const event = (delta: object, finish_reason: string | null): string =>
    `data: ${JSON.stringify({ model: FILE, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const texts = [
    ['application/json', JSON.stringify(json), JSON.stringify({ ...json, model: 'chat' })],
    ['text/event-stream', `${event({ content: 'a' }, null)}${event({}, 'stop')}data: [DONE]\n\n`],
  ] as const;
  for (const [type, text, shown = text.replaceAll(FILE, 'chat')] of texts)
    for (const [coding, encode] of Object.entries({ gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync })) {
      const coded = encode(text);
      raw(`200 OK\r\ncontent-type: ${type}\r\ncontent-encoding: ${coding}\r\ncontent-length: ${coded.length}`, coded);
      const answer = await asked('/v1/chat/completions', { stream: type === 'text/event-stream' });
      expect([coding, answer.status, answer.text]).toEqual([coding, 200, shown]);
      expect(answer.headers.get('content-encoding')).toBeNull();
    }
  const refused = gzipSync(JSON.stringify({ error: { message: 'no' } }));
  raw(`400 Bad Request\r\ncontent-encoding: gzip\r\ncontent-length: ${refused.length}`, refused);
  expect((await asked()).body.error.message).toBe('no');
});

it('passes on no answer in an encoding that it does not know', async () => {
  const coded = gzipSync(JSON.stringify({ model: FILE }));
  for (const type of ['application/json', 'text/event-stream'])
    for (const status of ['200 OK', '400 Bad Request']) {
      raw(`${status}\r\ncontent-type: ${type}\r\ncontent-encoding: zstd\r\ncontent-length: ${coded.length}`, coded);
      const shown = await asked();
      expect([shown.status, shown.body.error.message]).toEqual([
        status.startsWith('200') ? 502 : 400,
        'The model server failed to process the request.',
      ]);
    }
});

it('an answer that breaks before its first byte becomes an upstream error', async () => {
  raw('200 OK\r\ncontent-type: application/json\r\ncontent-length: 100');
  const shown = await asked();
  expect([shown.status, shown.body.error.code]).toEqual([502, 'upstream_error']);
});

const NAMES = [
  'content-type',
  'content-length',
  'content-encoding',
  'transfer-encoding',
  'retry-after',
  'cache-control',
  'set-cookie',
  'trailer',
  'server',
  'date',
  'x-odd',
  'x-request-id',
  '__proto__',
  'constructor',
];
const VALUES = [
  '',
  ' ',
  'text/event-stream',
  'application/json',
  '7',
  '-1',
  'é',
  '\x80\xff',
  '€',
  'x'.repeat(9_000),
  ',',
  '\t',
];

it('the client gets an answer to any headers of an engine: repeated, empty, huge or odd', async () => {
  const body = JSON.stringify({ choices: [], model: FILE });
  for (const name of NAMES)
    for (const value of VALUES)
      for (const times of [1, 2])
        for (const status of ['200 OK', '429 Too Many Requests']) {
          const lines = Array.from({ length: times }, () => `${name}: ${value}`).join('\r\n');
          raw(
            `${status}\r\n${lines}`,
            name === 'content-type' && value === 'text/event-stream' ? `data: ${body}\n\n${DONE}` : body,
          );
          const shown = await asked();
          expect([name, value.slice(0, 20), times, [200, 429, 502, 503].includes(shown.status)]).toEqual([
            name,
            value.slice(0, 20),
            times,
            true,
          ]);
          expect(everything(shown)).not.toContain('/models');
        }
  // None of them was an error of ours: each of those is logged with its stack.
  expect(installation.logged.filter((line) => line.includes('Error'))).toEqual([]);
});

it('an answer with a repeated content type is passed on', async () => {
  for (const type of ['application/json', 'text/event-stream']) {
    const body = `{"model":"${FILE}","choices":[]}`;
    const isStream = type.startsWith('text');
    raw(`200 OK\r\ncontent-type: ${type}\r\ncontent-type: ${type}`, isStream ? `data: ${body}\n\n${DONE}` : body);
    const shown = await asked();
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, type]);
  }
});
