import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Receiver, type ReceivedDelivery } from '../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../test/webhooks-bed.js';

/** A refused delivery waits longer than any test. A busy machine answers within the time-out. */
const PATIENT = { timeoutMs: 15_000, leaseMs: 25_000, retryDelaysMs: [600_000] };
const TYPES = ['rollout.started', 'rollout.promoted'] as const;

let bed: WebhooksBed;
let receiver: Receiver;
let count = 0;
let tenant: string;
let chat: string;

beforeAll(async () => {
  bed = await WebhooksBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  count += 1;
  tenant = `ten_${count}`;
  chat = `chat-${count}`;
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  await bed.idle();
});

const send = (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, rest: object = {}) =>
  bed.send(method, path, { tenant, ...rest });
const register = (body: object = {}) => bed.register({ url: receiver.url, ...body }, tenant);
const append = (types: readonly string[], deployment = chat) => bed.append(deployment, types, tenant);
const deliveries = (id: string) => bed.deliveries(id, tenant);
/** The delivery of the event with this type, newest first. */
const deliveryOf = async (id: string, type: string) =>
  (await deliveries(id)).find(({ event_type }: { event_type: string }) => event_type === type);
const untilDelivery = (id: string, type: string, holds: (delivery: any) => boolean) =>
  until(
    `a delivery of ${type}`,
    async () => {
      const delivery = await deliveryOf(id, type);
      return delivery !== undefined && holds(delivery);
    },
    () => deliveries(id),
  );
const types = () => receiver.received.map(({ event }) => event.type as string);
/** Refuses the first type until the test changes that. */
const refuse = (status = 400, headers: Record<string, string> = {}) => {
  receiver.behave = ({ event }, response) =>
    response.writeHead(event.type === TYPES[0] ? status : 204, event.type === TYPES[0] ? headers : {}).end();
};
const accept = () => {
  receiver.behave = (_request, response) => response.writeHead(204).end();
};
const post = (id: string, verb: string, event?: string, headers?: Record<string, string>) =>
  send('POST', `/webhooks/${id}/${event === undefined ? verb : `deliveries/${event}/${verb}`}`, { headers });

/** Registers a webhook whose first request is open: its second event waits for that answer. */
async function registerWithOpenRequest(): Promise<{ id: string; first: ServerResponse }> {
  let first: ServerResponse | undefined;
  receiver.behave = ({ event }, response) => {
    if (event.type === TYPES[0]) first = response;
    else response.writeHead(204).end();
  };
  const { id } = await register();
  await bed.worker({ ...PATIENT, timeoutMs: 30_000, leaseMs: 45_000 });
  await append(TYPES);
  await until('the request', () => first !== undefined);
  return { id, first: first! };
}

describe('a test', () => {
  it('is posted to its webhook alone, signed, whatever the filter is', async () => {
    const other = await Receiver.start();
    await bed.register({ url: other.url }, tenant);
    const { id, secret } = await register({ event_types: ['rollout.*'] });
    const { status, body } = await post(id, 'test');
    expect([status, body]).toMatchObject([201, { event_type: 'webhook.test', status: 'pending', attempts: 0 }]);
    await bed.worker();
    await append(['rollout.started']);
    await until('both', () => receiver.received.length === 2 && other.received.length === 1);
    const test = receiver.received.find(({ event }) => event.type === 'webhook.test') as ReceivedDelivery;
    const signed = `${test.headers['webhook-id']}.${test.headers['webhook-timestamp']}.${test.body}`;
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(test.headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    expect(test.event).toMatchObject({
      id: body.event_id,
      specversion: '1.0',
      source: '/api/v1/webhooks',
      subject: `webhooks/${id}`,
      sequence: 1,
      actor: 'token:tok_1',
      data: { webhook_id: id },
    });
    expect(other.received[0]!.event.type).toBe('rollout.started');
    await other.stop();
    await untilDelivery(id, 'webhook.test', (delivery) => delivery.status === 'succeeded');
    expect((await send('GET', `/webhooks/${id}/deliveries/${body.event_id}`)).body).toMatchObject({
      event_id: body.event_id,
      response_status: 204,
      duration_ms: expect.any(Number),
    });
    expect(await bed.actions(id)).toEqual(['webhook.create', 'webhook.test']);
  });

  it.each([500, 410, 302])('has one attempt and changes nothing of the webhook if the answer is %i', async (answer) => {
    receiver.behave = (_request, response) => response.writeHead(answer).end();
    const { id } = await register();
    await post(id, 'test');
    await bed.worker();
    await untilDelivery(id, 'webhook.test', ({ status }) => status === 'failed');
    expect(await deliveryOf(id, 'webhook.test')).toMatchObject({ attempts: 1, response_status: answer });
    expect((await send('GET', `/webhooks/${id}`)).body).toMatchObject({ state: 'active', paused_until: null });
  });

  it('is one for one Idempotency-Key', async () => {
    const { id } = await register();
    const [first, second] = [
      await post(id, 'test', undefined, { 'idempotency-key': 'k1' }),
      await post(id, 'test', undefined, { 'idempotency-key': 'k1' }),
    ];
    expect([second.status, second.body, second.headers['idempotency-replayed']]).toEqual([201, first.body, 'true']);
    expect(await deliveries(id)).toHaveLength(1);
  });

  it('is kept among the last fifty', async () => {
    const { id } = await register();
    for (let index = 0; index < 52; index += 1) {
      await post(id, 'test');
      await bed.database.read(
        'system',
        `update webhook_deliveries set status = 'succeeded', completed_at = now() where webhook_id = $1`,
        [id],
      );
    }
    const { body } = await post(id, 'test');
    const kept = await deliveries(id);
    expect([kept.length, kept[0].event_id]).toEqual([50, body.event_id]);
  });
});

describe('a delivery that the receiver refuses', () => {
  it('is skipped, and the later events of its stream follow at once', async () => {
    refuse();
    const { id } = await register();
    await bed.worker(PATIENT);
    await append(TYPES);
    await untilDelivery(id, TYPES[0], ({ attempts }) => attempts === 1);
    const { event_id: eventId } = await deliveryOf(id, TYPES[0]);
    const { status, body } = await post(id, 'skip', eventId);
    expect([status, body]).toMatchObject([200, { status: 'skipped', attempts: 1, next_attempt_at: null }]);
    await untilDelivery(id, TYPES[1], (delivery) => delivery.status === 'succeeded');
    expect(types()).toEqual(TYPES);
    // Again, it changes nothing.
    expect(await post(id, 'skip', eventId)).toMatchObject({ status: 200, body });
    expect(await bed.actions(id)).toEqual(['webhook.create', 'webhook.skip']);
    const ended = await post(id, 'skip', (await deliveryOf(id, TYPES[1])).event_id);
    expect([ended.status, ended.body.error.code]).toEqual([409, 'webhook_delivery_ended']);
  });

  it('is skipped while its request is open, whose answer then changes nothing', async () => {
    const { id, first } = await registerWithOpenRequest();
    await post(id, 'skip', (await deliveryOf(id, TYPES[0])).event_id);
    await untilDelivery(id, TYPES[1], ({ status }) => status === 'succeeded');
    first.writeHead(204).end();
    await append(['route.updated']);
    await untilDelivery(id, 'route.updated', ({ status }) => status === 'succeeded');
    expect(await deliveryOf(id, TYPES[0])).toMatchObject({ status: 'skipped', attempts: 0 });
    expect(types()).toEqual([...TYPES, 'route.updated']);
  });

  it('leaves its queue to its sender if an earlier one is under way', async () => {
    const { id, first } = await registerWithOpenRequest();
    await post(id, 'skip', (await deliveryOf(id, TYPES[1])).event_id);
    await append(['route.updated'], `${chat}-other`);
    await untilDelivery(id, 'route.updated', ({ status }) => status === 'succeeded');
    first.writeHead(204).end();
    await untilDelivery(id, TYPES[0], ({ status }) => status === 'succeeded');
    expect(types()).toEqual([TYPES[0], 'route.updated']);
  });

  it('is sent again after it has failed for good, with the same id and all attempts', async () => {
    refuse();
    const { id } = await register();
    await bed.worker({ ...QUICK, retryDelaysMs: [20] });
    await append(TYPES);
    await untilDelivery(id, TYPES[0], ({ status }) => status === 'failed');
    accept();
    const { event_id: eventId } = await deliveryOf(id, TYPES[0]);
    const { status, body } = await post(id, 'redeliver', eventId);
    expect([status, body]).toMatchObject([
      200,
      { status: 'pending', attempts: 0, error: null, response_status: null, completed_at: null },
    ]);
    await untilDelivery(id, TYPES[0], (delivery) => delivery.status === 'succeeded');
    expect(receiver.ids).toEqual([eventId, eventId, (await deliveryOf(id, TYPES[1])).event_id, eventId]);
    expect(await bed.actions(id)).toEqual(['webhook.create', 'webhook.redeliver']);
  });

  it('is sent now instead of at its next attempt, also if it was skipped', async () => {
    refuse();
    const { id } = await register();
    await bed.worker(PATIENT);
    await append([TYPES[0]]);
    await untilDelivery(id, TYPES[0], ({ attempts }) => attempts === 1);
    const { event_id: eventId } = await deliveryOf(id, TYPES[0]);
    await post(id, 'redeliver', eventId);
    await until('the second attempt', () => receiver.received.length === 2);
    await post(id, 'skip', eventId);
    accept();
    await post(id, 'redeliver', eventId);
    await untilDelivery(id, TYPES[0], ({ status }) => status === 'succeeded');
    // One that succeeded may be sent again as well.
    await post(id, 'redeliver', eventId);
    await untilDelivery(id, TYPES[0], ({ status }) => status === 'succeeded');
    await until('the last', () => receiver.received.length === 4);
  });

  it('waits for its own time after an earlier one that is sent again', async () => {
    const { id } = await register();
    await bed.worker(PATIENT);
    await append(['policy.updated']);
    await untilDelivery(id, 'policy.updated', ({ status }) => status === 'succeeded');
    refuse();
    await append(TYPES);
    await untilDelivery(id, TYPES[0], ({ attempts }) => attempts === 1);
    const waiting = await deliveryOf(id, TYPES[0]);
    await post(id, 'redeliver', (await deliveryOf(id, 'policy.updated')).event_id);
    await untilDelivery(id, 'policy.updated', ({ status }) => status === 'succeeded');
    expect(types()).toEqual(['policy.updated', TYPES[0], 'policy.updated']);
    expect(await deliveryOf(id, TYPES[0])).toEqual(waiting);
    await until(
      'the queue to wait',
      async () => (await dueAt(id)) === Date.parse(waiting.next_attempt_at),
      () => dueAt(id),
    );
  });

  it('cannot be sent again if its event is no longer kept, or if it is unknown', async () => {
    const { id } = await register();
    await bed.worker();
    await append([TYPES[0]]);
    await untilDelivery(id, TYPES[0], ({ status }) => status === 'succeeded');
    await bed.database.read('system', 'delete from events where stream = $1', [`deployment/dep_${chat}`]);
    const { event_id: eventId } = await deliveryOf(id, TYPES[0]);
    const gone = await post(id, 'redeliver', eventId);
    expect([gone.status, gone.body.error.code]).toEqual([410, 'webhook_event_expired']);
    for (const verb of ['redeliver', 'skip']) {
      const unknown = await post(id, verb, 'evt_unknown');
      expect([unknown.status, unknown.body.error.code]).toEqual([404, 'webhook_delivery_not_found']);
      const foreign = await bed.send('POST', `/webhooks/${id}/deliveries/${eventId}/${verb}`, { tenant: 'ten_else' });
      expect([foreign.status, foreign.body.error.code]).toEqual([404, 'webhook_not_found']);
    }
  });
});

it('an event that the webhook did not get is sent by its sequence, and once more if it is requested again', async () => {
  await append(TYPES);
  const { id } = await register({ event_types: ['route.*'] });
  await bed.worker();
  const request = (sequence: number, deployment = chat) =>
    send('POST', `/webhooks/${id}/deliveries`, { body: { deployment, sequence } });
  const first = await request(2);
  expect([first.status, first.body]).toMatchObject([201, { event_type: TYPES[1], status: 'pending' }]);
  await untilDelivery(id, TYPES[1], ({ status }) => status === 'succeeded');
  const again = await request(2);
  expect([again.status, again.body.event_id]).toEqual([200, first.body.event_id]);
  await untilDelivery(id, TYPES[1], ({ status }) => status === 'succeeded');
  await until('the second', () => receiver.received.length === 2);
  expect(receiver.ids).toEqual([first.body.event_id, first.body.event_id]);
  const unknown = await request(3);
  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'webhook_event_not_found']);
  // The stream is new to the webhook, and what follows in it is sent by the filter.
  await append(['rollout.started', 'route.updated'], `${chat}-new`);
  await request(1, `${chat}-new`);
  // Which one is first depends on when the worker sees the stream.
  for (const type of ['rollout.started', 'route.updated'])
    await untilDelivery(id, type, ({ status }) => status === 'succeeded');
  expect(types().slice(2).sort()).toEqual(['rollout.started', 'route.updated']);
});

const dueAt = async (id: string) =>
  (
    await bed.database.read<{ due_at: Date | null }>(
      'system',
      'select due_at from webhook_lanes where webhook_id = $1',
      [id],
    )
  )[0]?.due_at?.getTime();

it('an event that is sent again by a worker that is killed is sent by another one', async () => {
  const { id } = await register();
  const timing = { ...QUICK, timeoutMs: 30_000, leaseMs: 4_000 };
  const doomed = await bed.child(timing);
  await append([TYPES[0]]);
  await untilDelivery(id, TYPES[0], ({ status }) => status === 'succeeded');
  let isHeld = true;
  receiver.behave = (_request, response) => {
    if (!isHeld) response.writeHead(204).end();
  };
  await post(id, 'redeliver', (await deliveryOf(id, TYPES[0])).event_id);
  await until('the request', () => receiver.received.length === 2);
  doomed.kill('SIGKILL');
  isHeld = false;
  await bed.worker(timing);
  await untilDelivery(id, TYPES[0], ({ status }) => status === 'succeeded');
  expect(new Set(receiver.ids).size).toBe(1);
  expect(receiver.received).toHaveLength(3);
}, 60_000);

describe('Retry-After', () => {
  it.each([
    ['seconds', () => '120', 120],
    ['a date', () => new Date(Date.now() + 120_000).toUTCString(), 120],
    ['a year', () => String(365 * 86_400), 86_400],
    ['a date far in the future', () => 'Fri, 31 Dec 9999 23:59:59 GMT', 86_400],
  ])('of %s postpones the delivery and pauses the whole webhook', async (_what, header, seconds) => {
    refuse(429, { 'retry-after': header() });
    const { id } = await register();
    await bed.worker(QUICK);
    await append([TYPES[0]]);
    await untilDelivery(id, TYPES[0], ({ attempts }) => attempts === 1);
    const waitOf = (time: string) => Math.abs(Date.parse(time) - Date.now() - seconds * 1_000);
    expect(waitOf((await deliveryOf(id, TYPES[0])).next_attempt_at)).toBeLessThan(15_000);
    const { paused_until: pausedUntil } = (await send('GET', `/webhooks/${id}`)).body;
    expect(waitOf(pausedUntil)).toBeLessThan(15_000);
    await append([TYPES[1]], `${chat}-other`);
    await untilDelivery(id, TYPES[1], ({ next_attempt_at: next }) => next === pausedUntil);
    expect(types()).toEqual([TYPES[0]]);
  });

  it('ends with a request to send an event again', async () => {
    refuse(503, { 'retry-after': '3600' });
    const { id } = await register();
    await bed.worker(QUICK);
    await append([TYPES[0]]);
    await untilDelivery(id, TYPES[0], ({ attempts }) => attempts === 1);
    const { paused_until: pausedUntil } = (await send('GET', `/webhooks/${id}`)).body;
    await append([TYPES[1]], `${chat}-other`);
    await untilDelivery(id, TYPES[1], ({ next_attempt_at: next }) => next === pausedUntil);
    accept();
    await post(id, 'redeliver', (await deliveryOf(id, TYPES[0])).event_id);
    // The streams that have waited for the end of the pause, too.
    for (const type of [TYPES[0], TYPES[1]]) await untilDelivery(id, type, ({ status }) => status === 'succeeded');
    expect((await send('GET', `/webhooks/${id}`)).body.paused_until).toBeNull();
  });

  it('does not keep a test from being sent', async () => {
    refuse(429, { 'retry-after': '3600' });
    const { id } = await register();
    await bed.worker(QUICK);
    await append([TYPES[0]]);
    await untilDelivery(id, TYPES[0], ({ attempts }) => attempts === 1);
    await post(id, 'test');
    await untilDelivery(id, 'webhook.test', ({ status }) => status === 'succeeded');
  });

  it.each([
    ['of another refusal postpones only its delivery', 500, '3600', 1],
    ['in the past, or of no known form, changes nothing', 429, 'Sun, 06 Nov 1994 08:49:37 GMT', 4],
    ['of no known form changes nothing', 429, 'soon', 4],
  ])('%s', async (_what, status, header, attempts) => {
    refuse(status, { 'retry-after': header });
    const { id } = await register();
    await bed.worker(QUICK);
    await append([TYPES[0]]);
    await untilDelivery(id, TYPES[0], (delivery) => delivery.attempts === attempts);
    await append([TYPES[1]], `${chat}-other`);
    await untilDelivery(id, TYPES[1], (delivery) => delivery.status === 'succeeded');
    expect((await send('GET', `/webhooks/${id}`)).body.paused_until).toBeNull();
  });
});

it('deliveries are listed by status and by type', async () => {
  refuse();
  const { id } = await register();
  await bed.worker({ ...QUICK, retryDelaysMs: [] });
  await append([...TYPES, 'route.updated']);
  await untilDelivery(id, 'route.updated', ({ status }) => status === 'succeeded');
  const listed = async (query: string) => {
    const { status, body } = await send('GET', `/webhooks/${id}/deliveries?${query}`);
    return status === 200 ? body.data.map((one: { event_type: string }) => one.event_type) : body.error.code;
  };
  expect(await listed('status=failed')).toEqual([TYPES[0]]);
  expect(await listed('status=succeeded')).toEqual(['route.updated', TYPES[1]]);
  expect(await listed('event_type=rollout.*')).toEqual([TYPES[1], TYPES[0]]);
  expect(await listed('event_type=rollout.*&status=succeeded')).toEqual([TYPES[1]]);
  expect(await listed('event_type=route.updated')).toEqual(['route.updated']);
  expect(await listed('event_type=r_ute.*')).toBe('validation_failed');
  expect(await listed('status=lost')).toBe('validation_failed');
  expect(await listed('event_type=*')).toBe('validation_failed');
});
