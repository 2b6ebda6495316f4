import { createHmac, timingSafeEqual } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Receiver, type ReceivedDelivery } from '../../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../../test/webhooks-bed.js';

let bed: WebhooksBed;
let receiver: Receiver;
let count = 0;
/** A deployment, and with it a stream, for each test. */
let chat: string;
/** Each test also has a tenant of its own, so that the receivers of earlier tests receive nothing. */
let tenant: string;

beforeAll(async () => {
  bed = await WebhooksBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  count += 1;
  chat = `chat-${count}`;
  tenant = `ten_${count}`;
  receiver = await Receiver.start();
});
afterEach(async () => {
  await bed.idle();
  await receiver.stop();
});

/** Checks a signature as a receiver would, from the text of the standard and not with the code under test. */
function isSigned({ headers, body }: ReceivedDelivery, secret: string): boolean {
  const expected = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
    .digest();
  const given = Buffer.from(String(headers['webhook-signature']).replace('v1,', ''), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const summary = async (id: string) =>
  (await bed.deliveries(id, tenant)).map(({ status, attempts, response_status, error }) => ({
    status,
    attempts,
    response_status,
    error,
  }));
/** Waits until that many deliveries have ended. */
const ended = (id: string, deliveries: number) =>
  until(
    `${deliveries} deliveries to end`,
    async () => (await summary(id)).filter(({ status }) => status !== 'pending').length === deliveries,
    () => summary(id),
  );
const register = (body: object = {}) => bed.register({ url: receiver.url, ...body }, tenant);
const append = (deployment: string, types: readonly string[]) => bed.append(deployment, types, tenant);

it('a delivery is a signed CloudEvent', async () => {
  const { id, secret } = await register();
  await bed.worker();
  await append(chat, ['route.updated']);
  await until('the event', () => receiver.received.length === 1);
  const [got] = receiver.received as [ReceivedDelivery];
  expect(isSigned(got, secret)).toBe(true);
  expect(isSigned({ ...got, body: `${got.body} ` }, secret)).toBe(false);
  expect(got.headers).toMatchObject({
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'webhook-id': got.event.id,
  });
  expect(Math.abs(Date.now() / 1_000 - Number(got.headers['webhook-timestamp']))).toBeLessThan(30);
  expect(got.event).toMatchObject({
    specversion: '1.0',
    type: 'route.updated',
    subject: `deployments/${chat}`,
    sequence: 1,
    actor: 'token:tok_1',
    data: { index: 0 },
  });
  await until('the log', async () => (await summary(id))[0]?.status === 'succeeded');
  expect(await bed.deliveries(id, tenant)).toEqual([
    {
      event_id: got.event.id,
      event_type: 'route.updated',
      status: 'succeeded',
      attempts: 1,
      response_status: 204,
      error: null,
      duration_ms: expect.any(Number),
      next_attempt_at: null,
      last_attempt_at: expect.any(String),
      created_at: expect.any(String),
      completed_at: expect.any(String),
    },
  ]);
});

it('a webhook begins with the events after its creation', async () => {
  await append(chat, ['deployment.created', 'route.updated']);
  await register();
  await append(chat, ['policy.updated']);
  await bed.worker();
  await until('the event', () => receiver.received.length > 0);
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['policy.updated']);
});

it('a webhook gets only the requested types and deployments', async () => {
  await register({ event_types: ['rollout.*', 'route.updated'], deployments: [chat] });
  await append('other', ['rollout.started']);
  await append(chat, ['rollout.started', 'rollback.started', 'operation.status_changed', 'route.updated']);
  await bed.worker();
  await until('the last one', () => receiver.received.some(({ event }) => event.type === 'route.updated'));
  expect(receiver.received.map(({ event }) => `${event.subject} ${event.type}`)).toEqual([
    `deployments/${chat} rollout.started`,
    `deployments/${chat} route.updated`,
  ]);
});

it('a failed delivery is retried before anything later of the same stream', async () => {
  let refusals = 2;
  receiver.behave = (_request, response) => response.writeHead(refusals-- > 0 ? 500 : 200).end();
  const { id } = await register();
  await bed.worker();
  await append(chat, ['rollout.started', 'rollout.promoted']);
  await ended(id, 2);
  expect(receiver.received.map(({ event }) => event.type)).toEqual([
    'rollout.started',
    'rollout.started',
    'rollout.started',
    'rollout.promoted',
  ]);
  expect(await summary(id)).toEqual([
    { status: 'succeeded', attempts: 1, response_status: 200, error: null },
    { status: 'succeeded', attempts: 3, response_status: 200, error: null },
  ]);
});

it('a delivery waits between attempts, and a new event does not shorten the wait', async () => {
  receiver.behave = (_request, response) => response.writeHead(503).end();
  const { id } = await register();
  await bed.worker({ ...QUICK, retryDelaysMs: [60_000] });
  await append(chat, ['rollout.started']);
  await until('the first attempt', async () => (await summary(id))[0]?.attempts === 1);
  await append(chat, ['rollout.promoted']);
  await until('the second delivery', async () => (await bed.deliveries(id, tenant)).length === 2);
  const [later, first] = await bed.deliveries(id, tenant);
  expect(Date.parse(first.next_attempt_at) - Date.now()).toBeGreaterThan(40_000);
  expect(later).toMatchObject({ status: 'pending', attempts: 0 });
  expect(receiver.received).toHaveLength(1);
});

it.each([
  ['a redirect', 302, 'redirect'],
  ['an error', 500, 'http_status'],
])('a sender gives up on %s after the last attempt and continues', async (_what, status, error) => {
  receiver.behave = ({ event }, response) =>
    response.writeHead(event.type === 'rollout.started' ? status : 200, { location: receiver.url }).end();
  const { id } = await register();
  await bed.worker({ ...QUICK, retryDelaysMs: [20] });
  await append(chat, ['rollout.started', 'rollout.promoted']);
  await until('the second', () => receiver.received.some(({ event }) => event.type === 'rollout.promoted'));
  await until('the log', async () => (await summary(id))[0]?.status === 'succeeded');
  expect((await summary(id))[1]).toEqual({ status: 'failed', attempts: 2, response_status: status, error });
  expect(receiver.received).toHaveLength(3);
});

it('a receiver that does not answer, or never ends its answer, is cut off', async () => {
  receiver.behave = ({ event }, response) => {
    if (event.type === 'route.updated') response.writeHead(200).write('…');
  };
  const { id } = await register();
  await bed.worker({ ...QUICK, timeoutMs: 1_500, retryDelaysMs: [] });
  await append(chat, ['rollout.started', 'route.updated']);
  await ended(id, 2);
  expect(await summary(id)).toEqual([
    { status: 'succeeded', attempts: 1, response_status: 200, error: 'response_cut' },
    { status: 'failed', attempts: 1, response_status: null, error: 'timeout' },
  ]);
});

it('a sender does not dial a private address that a name or an old row points to', async () => {
  const { id } = await register();
  const named = await register();
  // As if the operator had withdrawn the allowance: https is still public, but this address is not.
  for (const [webhook, url] of [
    [id, receiver.url.replace('http://127.0.0.1', 'https://127.0.0.1')],
    // No client can name it now, but its address may have changed.
    [named.id, 'https://localhost:9/hook'],
  ])
    await bed.database.read('system', 'update webhooks set url = $2 where id = $1', [webhook, url]);
  await bed.worker({ ...QUICK, retryDelaysMs: [] });
  await append(chat, ['route.updated']);
  await ended(id, 1);
  await ended(named.id, 1);
  const errorsOf = async (webhook: string) => (await bed.deliveries(webhook, tenant)).map(({ error }) => error);
  expect([await errorsOf(id), await errorsOf(named.id)]).toEqual([['address_refused'], ['address_refused']]);
  expect(receiver.received).toEqual([]);
});

it('a webhook whose receiver is gone is disabled', async () => {
  receiver.behave = (_request, response) => response.writeHead(410).end();
  const { id } = await register();
  await append(chat, ['rollout.started', 'rollout.promoted']);
  await append(`${chat}-b`, ['rollout.started']);
  await bed.worker();
  const found = async () =>
    (await bed.send('GET', '/webhooks', { tenant })).body.data.find((webhook: { id: string }) => webhook.id === id);
  await until('it to be disabled', async () => (await found()).state === 'disabled');
  expect(await found()).toMatchObject({ disabled_reason: 'gone', disabled_at: expect.any(String) });
  await ended(id, 3);
  const seen = receiver.received.length;
  expect((await summary(id)).filter(({ status }) => status === 'cancelled').length).toBeGreaterThan(0);
  await append(chat, ['route.updated']);
  const other = await Receiver.start();
  await bed.register({ url: other.url }, tenant);
  await append(chat, ['policy.updated']);
  await until('another webhook gets what follows', () => other.received.length === 1);
  await other.stop();
  expect(receiver.received).toHaveLength(seen);
  expect(
    await bed.database.read(
      'system',
      `select actor, action from audit_log where resource_name = $1 and action = 'webhook.disable'`,
      [id],
    ),
  ).toEqual([{ actor: 'system:webhooks', action: 'webhook.disable' }]);
});

it('a tenant receives only its own events', async () => {
  const other = await Receiver.start();
  await register();
  await bed.register({ url: other.url }, 'ten_other');
  await bed.worker();
  await append(`${chat}-a`, ['route.updated']);
  await bed.append(`${chat}-b`, ['route.updated'], 'ten_other');
  await until('both', () => receiver.received.length > 0 && other.received.length > 0);
  await other.stop();
  expect([receiver, other].map(({ received }) => received.map(({ event }) => event.subject))).toEqual([
    [`deployments/${chat}-a`],
    [`deployments/${chat}-b`],
  ]);
});

it('the unfinished requests of a killed worker are sent again, and nothing twice at once', async () => {
  let held = true;
  receiver.behave = (_request, response) => {
    if (!held) response.writeHead(200).end();
  };
  const { id } = await register();
  // The lease outlasts the start of the second worker. A request may outlast the lease.
  const timing = { ...QUICK, timeoutMs: 30_000, leaseMs: 5_000 };
  const doomed = await bed.child(timing);
  await append(chat, ['rollout.started', 'rollout.promoted']);
  await until('the request', () => receiver.received.length === 1);
  await bed.worker(timing);
  doomed.kill('SIGKILL');
  held = false;
  await ended(id, 2);
  expect(receiver.received.map(({ event }) => event.type)).toEqual([
    'rollout.started',
    'rollout.started',
    'rollout.promoted',
  ]);
}, 60_000);

it('a worker stops sending if another one has taken the queue', async () => {
  let answerFirst = (): void => undefined;
  receiver.behave = (_request, response) => {
    const answer = () => response.writeHead(200).end();
    if (receiver.received.length === 1) answerFirst = answer;
    else answer();
  };
  const { id } = await register();
  // The request may take longer than the lease, like that of a paused process.
  const worker = await bed.worker({ timeoutMs: 60_000, leaseMs: 3_000, retryDelaysMs: [] });
  await append(chat, ['rollout.started', 'rollout.promoted', 'route.updated']);
  await ended(id, 3);
  const sent = receiver.received.length;
  // The next worker has sent everything. The first one now gets its answer, and must not send the rest.
  answerFirst();
  await append(chat, ['policy.updated']);
  await ended(id, 4);
  await bed.stopWorker(worker);
  expect(receiver.received.slice(sent).map(({ event }) => event.type)).toEqual(['policy.updated']);
  expect((await summary(id)).map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
    Array(4).fill('succeeded 1'),
  );
});

it('three workers, of which one is killed, lose and repeat none of 500 events and keep their order', async () => {
  const streams = Array.from({ length: 5 }, (_, index) => `${chat}-${index}`);
  const { id } = await register();
  const doomed = await bed.child();
  await Promise.all([bed.worker(), bed.worker()]);
  const TYPES = ['rollout.started', 'route.updated'];
  const produced = Promise.all(
    streams.map(async (stream) => {
      for (let index = 0; index < 50; index += 1) await append(stream, TYPES);
    }),
  );
  await until(
    'a part',
    () => receiver.received.length > 100,
    () => receiver.received.length,
    { deadlineMs: 60_000 },
  );
  doomed.kill('SIGKILL');
  await produced;
  const pending = async () =>
    bed.database.read<{ status: string; count: number }>(
      'system',
      'select status, count(*)::int as count from webhook_deliveries where webhook_id = $1 group by 1',
      [id],
    );
  await until(
    'all',
    async () => (await pending()).every(({ status, count: rows }) => status === 'succeeded' && rows === 500),
    pending,
    { deadlineMs: 60_000 },
  );
  for (const stream of streams) {
    const got = receiver.received
      .filter(({ event }) => event.subject === `deployments/${stream}`)
      .map(({ event }) => event.id);
    // The killed worker may have had one open request per stream, which then arrived twice, one right after the other.
    const once = got.filter((event, index) => event !== got[index - 1]);
    expect(once).toEqual(await bed.eventIds(stream));
    expect(got.length - once.length).toBeLessThanOrEqual(1);
  }
}, 150_000);

it('workers find events without a notification, and events committed while no worker ran', async () => {
  const { id } = await register();
  await append(chat, ['rollout.started']);
  const worker = await bed.worker();
  await until('the first', () => receiver.received.length === 1);
  await bed.stopWorker(worker);
  await append(chat, ['rollout.promoted']);
  await bed.worker();
  await until('the second', () => receiver.received.length === 2);
  await ended(id, 2);
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['rollout.started', 'rollout.promoted']);
});

it('ended deliveries are deleted after thirty days', async () => {
  const { id } = await register();
  await append(chat, ['rollout.started', 'rollout.promoted']);
  const worker = await bed.worker();
  await ended(id, 2);
  await bed.stopWorker(worker);
  const [, first] = await bed.deliveries(id, tenant);
  await bed.database.read(
    'system',
    `update webhook_deliveries set completed_at = now() - interval '31 days' where event_id = $1 and webhook_id = $2`,
    [first.event_id, id],
  );
  await bed.worker();
  await until('the first to be gone', async () => (await bed.deliveries(id, tenant)).length === 1);
  expect((await bed.deliveries(id, tenant))[0].event_type).toBe('rollout.promoted');
});
