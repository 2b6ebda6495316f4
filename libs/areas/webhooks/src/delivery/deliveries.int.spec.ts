import { createHmac, timingSafeEqual } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Receiver, type Received } from '../../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../../test/webhooks-bed.js';

let bed: WebhooksBed;
let receiver: Receiver;
let count = 0;
/** A deployment, and with it a stream, of each test's own. */
let chat: string;

beforeAll(async () => {
  bed = await WebhooksBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  count += 1;
  chat = `chat-${count}`;
  receiver = await Receiver.start();
});
afterEach(async () => {
  await bed.idle();
  await receiver.stop();
});

/** As a receiver would, from the text of the standard and not from our code. */
function isSigned({ headers, body }: Received, secret: string): boolean {
  const expected = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64')).update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`).digest();
  const given = Buffer.from(String(headers['webhook-signature']).replace('v1,', ''), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const summary = async (id: string) => (await bed.deliveries(id)).map(({ status, attempts, response_status, error }) => ({ status, attempts, response_status, error }));
const register = (body: object = {}, tenant?: string) => bed.register({ url: receiver.url, ...body }, tenant);

it('posts a signed CloudEvent', async () => {
  const { id, secret } = await register();
  await bed.worker();
  await bed.append(chat, ['route.updated']);
  await until('the event', () => receiver.received.length === 1);
  const [got] = receiver.received as [Received];
  expect(isSigned(got, secret)).toBe(true);
  expect(isSigned({ ...got, body: `${got.body} ` }, secret)).toBe(false);
  expect(got.headers).toMatchObject({ 'content-type': 'application/cloudevents+json; charset=utf-8', 'webhook-id': got.event.id });
  expect(Math.abs(Date.now() / 1_000 - Number(got.headers['webhook-timestamp']))).toBeLessThan(30);
  expect(got.event).toMatchObject({ specversion: '1.0', type: 'route.updated', subject: `deployments/${chat}`, sequence: 1, actor: 'token:tok_1', data: { index: 0 } });
  await until('the log', async () => (await summary(id))[0]?.status === 'succeeded');
  expect(await bed.deliveries(id)).toEqual([{
    event_id: got.event.id, event_type: 'route.updated', status: 'succeeded', attempts: 1, response_status: 204, error: null, next_attempt_at: null,
    last_attempt_at: expect.any(String), created_at: expect.any(String), completed_at: expect.any(String),
  }]);
});

it('begins with what happens after its creation', async () => {
  await bed.append(chat, ['deployment.created', 'route.updated']);
  await register();
  await bed.append(chat, ['policy.updated']);
  await bed.worker();
  await until('the event', () => receiver.received.length > 0);
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['policy.updated']);
});

it('sends only the types and deployments that were asked for', async () => {
  await register({ event_types: ['rollout.*', 'route.updated'], deployments: [chat] });
  await bed.append('other', ['rollout.started']);
  await bed.append(chat, ['rollout.started', 'rollback.started', 'operation.status_changed', 'route.updated']);
  await bed.worker();
  await until('the last one', () => receiver.received.some(({ event }) => event.type === 'route.updated'));
  expect(receiver.received.map(({ event }) => `${event.subject} ${event.type}`)).toEqual([`deployments/${chat} rollout.started`, `deployments/${chat} route.updated`]);
});

it('tries again after a failure, before anything later of the same stream', async () => {
  let refusals = 2;
  receiver.behave = (_request, response) => response.writeHead(refusals-- > 0 ? 500 : 200).end();
  const { id } = await register();
  await bed.worker();
  await bed.append(chat, ['rollout.started', 'rollout.promoted']);
  await until('both', async () => (await summary(id)).every(({ status }) => status === 'succeeded'), () => summary(id));
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['rollout.started', 'rollout.started', 'rollout.started', 'rollout.promoted']);
  expect(await summary(id)).toEqual([
    { status: 'succeeded', attempts: 1, response_status: 200, error: null },
    { status: 'succeeded', attempts: 3, response_status: 200, error: null },
  ]);
});

it('waits between attempts, and a new event does not shorten the wait', async () => {
  receiver.behave = (_request, response) => response.writeHead(503).end();
  const { id } = await register();
  await bed.worker({ ...QUICK, retryDelaysMs: [60_000] });
  await bed.append(chat, ['rollout.started']);
  await until('the first attempt', async () => (await summary(id))[0]?.attempts === 1);
  await bed.append(chat, ['rollout.promoted']);
  await until('the second delivery', async () => (await bed.deliveries(id)).length === 2);
  const [later, first] = await bed.deliveries(id);
  expect(Date.parse(first.next_attempt_at) - Date.now()).toBeGreaterThan(40_000);
  expect(later).toMatchObject({ status: 'pending', attempts: 0 });
  expect(receiver.received).toHaveLength(1);
});

it.each([
  ['a redirect', 302, 'redirect'],
  ['an error', 500, 'http_status'],
])('gives %s up after the last attempt and goes on', async (_what, status, error) => {
  receiver.behave = ({ event }, response) => response.writeHead(event.type === 'rollout.started' ? status : 200, { location: receiver.url }).end();
  const { id } = await register();
  await bed.worker({ ...QUICK, retryDelaysMs: [20] });
  await bed.append(chat, ['rollout.started', 'rollout.promoted']);
  await until('the second', () => receiver.received.some(({ event }) => event.type === 'rollout.promoted'));
  await until('the log', async () => (await summary(id))[0]?.status === 'succeeded');
  expect((await summary(id))[1]).toEqual({ status: 'failed', attempts: 2, response_status: status, error });
  expect(receiver.received).toHaveLength(3);
});

it('cuts off a receiver that does not answer, or never ends its answer', async () => {
  receiver.behave = ({ event }, response) => {
    if (event.type === 'route.updated') response.writeHead(200).write('…');
  };
  const { id } = await register();
  await bed.worker({ timeoutMs: 200, leaseMs: 2_000, retryDelaysMs: [] });
  await bed.append(chat, ['rollout.started', 'route.updated']);
  await until('both ended', async () => (await summary(id)).every(({ status }) => status !== 'pending') && (await summary(id)).length === 2, () => summary(id));
  expect(await summary(id)).toEqual([
    { status: 'succeeded', attempts: 1, response_status: 200, error: null },
    { status: 'failed', attempts: 1, response_status: null, error: 'timeout' },
  ]);
});

it('does not dial a private address that a name or an old row leads to', async () => {
  const { id } = await register();
  // As if the operator had taken the allowance back: https is still public, but this address is not.
  await bed.database.read('system', 'update webhooks set url = $2 where id = $1', [id, receiver.url.replace('http://127.0.0.1', 'https://127.0.0.1')]);
  const named = await bed.register({ url: 'https://localhost:9/hook' }).catch(() => undefined);
  await bed.worker({ ...QUICK, retryDelaysMs: [] });
  await bed.append(chat, ['route.updated']);
  const errorsOf = async (webhook: string) => (await bed.deliveries(webhook)).map(({ error }) => error);
  await until('both refused', async () => (await errorsOf(id))[0] !== null && (await errorsOf(named!.id))[0] !== null, () => errorsOf(id));
  expect([await errorsOf(id), await errorsOf(named!.id)]).toEqual([['address_refused'], ['address_refused']]);
  expect(receiver.received).toEqual([]);
});

it('disables a webhook whose receiver is gone', async () => {
  receiver.behave = (_request, response) => response.writeHead(410).end();
  const { id } = await register();
  await bed.append(chat, ['rollout.started', 'rollout.promoted']);
  await bed.append(`${chat}-b`, ['rollout.started']);
  await bed.worker();
  const found = async () => (await bed.send('GET', '/webhooks')).body.data.find((webhook: { id: string }) => webhook.id === id);
  await until('it to be disabled', async () => (await found()).state === 'disabled');
  expect(await found()).toMatchObject({ disabled_reason: 'gone', disabled_at: expect.any(String) });
  await until('nothing pending', async () => (await summary(id)).every(({ status }) => status !== 'pending'), () => summary(id));
  const seen = receiver.received.length;
  expect((await summary(id)).filter(({ status }) => status === 'cancelled').length).toBeGreaterThan(0);
  await bed.append(chat, ['route.updated']);
  const other = await Receiver.start();
  await bed.register({ url: other.url });
  await bed.append(chat, ['policy.updated']);
  await until('another webhook gets what follows', () => other.received.length === 1);
  await other.stop();
  expect(receiver.received).toHaveLength(seen);
  expect(await bed.database.read('system', `select actor, action from audit_log where resource_name = $1 and action = 'webhook.disable'`, [id])).toEqual([{ actor: 'system:webhooks', action: 'webhook.disable' }]);
});

it('sends a tenant its own events only', async () => {
  const other = await Receiver.start();
  await register({}, 'ten_a');
  await bed.register({ url: other.url }, 'ten_b');
  await bed.worker();
  await bed.append(`${chat}-a`, ['route.updated'], 'ten_a');
  await bed.append(`${chat}-b`, ['route.updated'], 'ten_b');
  await until('both', () => receiver.received.length > 0 && other.received.length > 0);
  await other.stop();
  expect([receiver, other].map(({ received }) => received.map(({ event }) => event.subject))).toEqual([[`deployments/${chat}-a`], [`deployments/${chat}-b`]]);
});

it('sends again what a killed worker had under way, and nothing twice at once', async () => {
  let held = true;
  receiver.behave = (_request, response) => {
    if (!held) response.writeHead(200).end();
  };
  const { id } = await register();
  const timing = { ...QUICK, timeoutMs: 30_000, leaseMs: 3_000 };
  const doomed = await bed.child(timing);
  await bed.append(chat, ['rollout.started', 'rollout.promoted']);
  await until('the request', () => receiver.received.length === 1);
  await bed.worker(timing);
  doomed.kill('SIGKILL');
  held = false;
  await until('both', async () => (await summary(id)).every(({ status }) => status === 'succeeded'), () => summary(id));
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['rollout.started', 'rollout.started', 'rollout.promoted']);
}, 60_000);

it('loses nothing, repeats nothing and keeps the order over 500 events with three workers of which one is killed', async () => {
  const streams = Array.from({ length: 5 }, (_, index) => `${chat}-${index}`);
  const { id } = await register();
  const doomed = await bed.child();
  await Promise.all([bed.worker(), bed.worker()]);
  const TYPES = ['rollout.started', 'route.updated'];
  const produced = Promise.all(streams.map(async (stream) => {
    for (let index = 0; index < 50; index += 1) await bed.append(stream, TYPES);
  }));
  await until('a part', () => receiver.received.length > 100, () => receiver.received.length, 60_000);
  doomed.kill('SIGKILL');
  await produced;
  const pending = async () => bed.database.read<{ status: string; count: number }>('system', 'select status, count(*)::int as count from webhook_deliveries where webhook_id = $1 group by 1', [id]);
  await until('all', async () => (await pending()).every(({ status, count: rows }) => status === 'succeeded' && rows === 500), pending, 60_000);
  for (const stream of streams) {
    const got = receiver.received.filter(({ event }) => event.subject === `deployments/${stream}`).map(({ event }) => event.id);
    // The killed worker may have had one request of each stream under way, which then came twice, next to each other.
    const once = got.filter((event, index) => event !== got[index - 1]);
    expect(once).toEqual(await bed.eventIds(stream));
    expect(got.length - once.length).toBeLessThanOrEqual(1);
  }
}, 150_000);

it('finds what nobody notified, and what was committed while no worker was there', async () => {
  const { id } = await register();
  await bed.append(chat, ['rollout.started']);
  const worker = await bed.worker();
  await until('the first', () => receiver.received.length === 1);
  await bed.stopWorker(worker);
  await bed.append(chat, ['rollout.promoted']);
  await bed.worker();
  await until('the second', () => receiver.received.length === 2);
  await until('the log', async () => (await summary(id)).every(({ status }) => status === 'succeeded'));
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['rollout.started', 'rollout.promoted']);
});

it('forgets ended deliveries after thirty days', async () => {
  const { id } = await register();
  await bed.append(chat, ['rollout.started', 'rollout.promoted']);
  const worker = await bed.worker();
  await until('both', async () => (await summary(id)).filter(({ status }) => status === 'succeeded').length === 2);
  await bed.stopWorker(worker);
  const [, first] = await bed.deliveries(id);
  await bed.database.read('system', `update webhook_deliveries set completed_at = now() - interval '31 days' where event_id = $1 and webhook_id = $2`, [first.event_id, id]);
  await bed.worker();
  await until('the first to be gone', async () => (await bed.deliveries(id)).length === 1);
  expect((await bed.deliveries(id))[0].event_type).toBe('rollout.promoted');
});
