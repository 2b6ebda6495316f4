import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

let stack: Stack;
let server: Server;
const received: { headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    let body = '';
    request
      .setEncoding('utf8')
      .on('data', (chunk: string) => (body += chunk))
      .on('end', () => {
        received.push({ headers: request.headers, body });
        response.writeHead(204).end();
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stack = await Stack.start({ config: () => 'targets: []\noutbound: {webhooks: ["http://127.0.0.1:*"]}\n' });
});
afterAll(async () => {
  await stack?.stop();
  server?.closeAllConnections();
  server?.close();
});

it('posts the events that the api lists, also those that happened while the worker was dead', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const slipway = stack.slipway();
  const webhook = await slipway.webhooks.create({ url });
  await slipway.deployments.create({ name: 'chat' });
  await until(
    'the creation',
    async () => received.length >= 1,
    30_000,
    () => stack.logOf('worker'),
  );
  await stack.kill('worker');
  for (const mode of ['observe', 'recommend', 'off'] as const) await slipway.deployments.policy.set('chat', { mode });
  stack.spawn('worker');
  const { data: listed } = await slipway.deployments.events.list('chat', { order: 'asc' });
  expect(listed).toHaveLength(4);
  await until(
    'all of it',
    async () => new Set(received.map(({ headers }) => headers['webhook-id'])).size >= 4,
    60_000,
    () => stack.logOf('worker'),
  );

  // The killed worker may have died between the answer and its record of it; a
  // receiver recognizes a repetition by its id.
  const once = received.filter(
    ({ headers }, index) => headers['webhook-id'] !== received[index - 1]?.headers['webhook-id'],
  );
  expect(once.map(({ body }) => JSON.parse(body))).toEqual(listed);
  for (const { headers, body } of received) {
    const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', Buffer.from(webhook.secret!.slice(6), 'base64'))
        .update(text)
        .digest('base64')}`,
    );
  }
  await until('the log', async () => {
    const { data } = await slipway.webhooks.deliveries(webhook.id);
    return data.length === 4 && data.every(({ status }) => status === 'succeeded');
  });
});
