import { once } from 'node:events';
import { request, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { codeOf } from '../harness/refusals.js';

const DEADLINE_MS = 5_000;

let api: TestApi;

beforeAll(async () => {
  api = await bootApi();
  await api.slipway().deployments.create({ name: 'chat' });
}, 60_000);
afterAll(async () => {
  for (const client of clients) client.destroy();
  await api?.close();
});

interface Stream {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  hasEnded: boolean;
}

const clients = new Set<ClientRequest>();

/** Opens a separate connection, without the reconnecting of `fetch`. */
async function open(token: string, headers: Record<string, string> = {}): Promise<Stream> {
  const sent = request(`${api.url}/api/v1/deployments/chat/events`, {
    agent: false,
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
  }).end();
  clients.add(sent);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const stream: Stream = { status: answer.statusCode ?? 0, headers: answer.headers, text: '', hasEnded: false };
  answer.on('data', (chunk: Buffer) => (stream.text += chunk.toString()));
  answer.on('error', () => undefined).on('close', () => (stream.hasEnded = true));
  return stream;
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

it('ends the streams of a revoked token, and no others', async () => {
  const { tokens } = api.slipway();
  const { id, token } = await tokens.create({ name: 'watcher', scopes: ['viewer'] });
  const [watching, other] = [await open(token!), await open(api.token)];
  await until('both got the creation', () =>
    [watching, other].every((stream) => stream.text.includes('event: deployment.created')),
  );
  await tokens.revoke(id);
  await until('the stream ends', () => watching.hasEnded);
  expect(other.hasEnded).toBe(false);
  expect((await open(token!)).status).toBe(401);
});

it('answers failures before the stream begins with the envelope', async () => {
  const { events } = api.slipway().deployments;
  expect(await codeOf(events.follow('nobody').next())).toBe('404 deployment_not_found');
  const wrong = events.follow('chat', { headers: { 'last-event-id': '-1' } });
  expect(await codeOf(wrong.next())).toBe('400 invalid_parameter');
});

it('treats a position beyond the end as the end, for that stream and for those after it', async () => {
  const beyond = await open(api.token, { 'last-event-id': '999999999999' });
  const after = await open(api.token, { 'last-event-id': '0' });
  await until('the later one is caught up', () => after.text.includes('event: deployment.created'));
  const spec = { model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url: 'http://127.0.0.1:1' } };
  await api.slipway().deployments.rollouts.create('chat', { spec, strategy: { type: 'immediate' } });
  await until('both have what comes', () => [beyond, after].every(({ text }) => text.includes('\nid: 2\n')));
  expect(beyond.text).not.toContain('deployment.created');
});

it('sends the headers of every answer', async () => {
  const stream = await open(api.token, { 'x-request-id': 'mine' });
  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': 'mine',
    vary: 'accept',
  });
});
