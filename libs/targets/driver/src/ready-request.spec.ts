import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import type { EngineService } from '@slipway/contracts';
import { sendReadyRequest } from './ready-request.js';

type Answer = { status?: number; body?: unknown; type?: string; isLate?: boolean };
let requests: { path: string; body: Record<string, unknown>; key?: string }[];
let answers: Record<string, Answer | ((body: Record<string, unknown>) => Answer)>;
const agent = new Agent();
const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));

async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
  const path = incoming.url ?? '';
  requests.push({ path, body, key: incoming.headers.authorization });
  const found = answers[path] ?? answers['*'] ?? { status: 404, body: 'Not Found' };
  const answer = typeof found === 'function' ? found(body) : found;
  if (answer.isLate) return;
  const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {});
  outgoing.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/json' }).end(text);
}

beforeEach(async () => {
  requests = [];
  answers = {};
  if (!server.listening) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const root = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const send = (serves?: EngineService[], credential?: string, limitMs = 5_000) =>
  sendReadyRequest({ baseUrl: root(), model: 'm', credential, dispatcher: agent }, serves, limitMs);

const CHAT = { body: { choices: [{ message: { content: 'ready' } }] } };
const VECTORS = { body: { data: [{ embedding: [1, 2] }] } };

it.each<[EngineService[] | undefined, string, Answer, string[]]>([
  [undefined, '/v1/chat/completions', CHAT, ['/v1/chat/completions']],
  [['chat', 'completions'], '/v1/chat/completions', CHAT, ['/v1/chat/completions']],
  [['embeddings'], '/v1/embeddings', VECTORS, ['/v1/embeddings']],
  [undefined, '/v1/embeddings', VECTORS, ['/v1/chat/completions', '/v1/chat/completions', '/v1/embeddings']],
  [['rerank'], '/v1/rerank', { body: { results: [{ relevance_score: 1 }] } }, ['/v1/rerank']],
  [['embeddings', 'rerank'], '/rerank', { body: [{ score: 1 }] }, ['/v1/embeddings', '/v1/rerank', '/rerank']],
  [['completions'], '/v1/completions', { body: { choices: [{ text: 'ready' }] } }, ['/v1/completions']],
  [['responses'], '/v1/responses', { body: { output: [{}] } }, ['/v1/responses']],
])('proves a server that declares %j by the answer of %s', async (serves, path, answer, asked) => {
  answers[path] = answer;
  expect(await send(serves, 'k-1')).toEqual({ is: 'answered' });
  expect(requests.map((one) => one.path)).toEqual(asked);
  expect(requests.every(({ body, key }) => body['model'] === 'm' && key === 'Bearer k-1')).toBe(true);
});

it('limits a chat to one token, and sends no limit to a model that refuses its name', async () => {
  answers['*'] = (body) => ('max_tokens' in body ? { status: 400, body: { error: 'max_tokens' } } : CHAT);
  expect(await send(['chat'])).toEqual({ is: 'answered' });
  expect(requests.map(({ body }) => body['max_tokens'])).toEqual([1, undefined]);
});

it('accepts a server that streams although it was not asked to', async () => {
  answers['*'] = {
    type: 'text/event-stream',
    body: 'data: {"choices":[{"delta":{"content":"r"}}]}\n\ndata: [DONE]\n\n',
  };
  expect(await send(['chat'])).toEqual({ is: 'answered' });
});

it.each([408, 425, 429, 500, 502, 503, 529])('waits for a server that answers %d', async (status) => {
  answers['*'] = { status, body: { detail: 'try later' } };
  const message = `POST ${root()}/v1/chat/completions returned ${status}: try later`;
  expect(await send()).toEqual({ is: 'busy', message });
  expect(requests).toHaveLength(1);
});

it('waits for a server that answers too late, too much or not at all', async () => {
  const url = `${root()}/v1/chat/completions`;
  answers['*'] = () => ({ isLate: true });
  expect(await send(['chat'], undefined, 200)).toEqual({
    is: 'busy',
    message: `POST ${url}: no response within 0.2 s`,
  });
  answers['*'] = { body: ' '.repeat(5 * 1024 * 1024) };
  expect(await send()).toMatchObject({ is: 'busy' });
  const gone = { baseUrl: 'http://127.0.0.1:1', model: 'm', credential: undefined, dispatcher: agent };
  const message = `POST http://127.0.0.1:1/v1/chat/completions: the connection was refused: nothing listens there`;
  expect(await sendReadyRequest(gone, ['chat'], 500)).toEqual({ is: 'busy', message });
});

it.each<[Answer, string]>([
  [{ status: 401, body: { error: { message: 'wrong key' } } }, 'returned 401: wrong key'],
  [{ status: 403, body: '<html><h1>Forbidden</h1></html>' }, 'returned 403: Forbidden'],
  [{ status: 404, body: { message: 'The model `m` does not exist.' } }, 'returned 404: The model `m` does not exist.'],
  [{ status: 400, body: { error: 'no chat' } }, 'returned 400: no chat'],
  [{ status: 422, body: { detail: [{ loc: ['body'], msg: 'field required' }] } }, 'returned 422: field required'],
  [{ status: 501, body: '' }, 'returned 501'],
  [{ status: 307, body: '' }, 'returned 307'],
  [{ body: '<html>Welcome</html>', type: 'text/html' }, 'returned 200, and not a chat completion: Welcome'],
  [{ body: { error: 'Unexpected endpoint' } }, 'returned 200, and not a chat completion: Unexpected endpoint'],
  [{ body: '' }, 'returned 200, and not a chat completion'],
])('is refused by a server that answers %j, and names request and answer', async (answer, expected) => {
  answers['*'] = answer;
  expect(await send(['chat'])).toEqual({ is: 'refused', message: `POST ${root()}/v1/chat/completions ${expected}` });
});

it('names every kind of request that was refused', async () => {
  answers['/v1/chat/completions'] = { status: 400, body: { error: 'no chat' } };
  expect(await send(['chat', 'embeddings'])).toEqual({
    is: 'refused',
    message: `POST ${root()}/v1/chat/completions returned 400: no chat; also refused: POST ${root()}/v1/embeddings (404)`,
  });
});

it('shows a short part of the answer on one line, without the credential', async () => {
  answers['*'] = { status: 401, body: { error: { message: `got key-1 and Bearer abc\n\u202e${'x'.repeat(900)}` } } };
  const { message } = (await send(['chat'], 'key-1')) as { message: string };
  expect(message).toMatch(/returned 401: got \[redacted\] and Bearer \[redacted\] \?x{100,}…$/);
  expect(message.length).toBeLessThan(300);
});
