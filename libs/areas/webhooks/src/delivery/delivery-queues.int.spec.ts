import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until, WebhooksBed } from '../../test/webhooks-bed.js';
import { WebhookEventRetention, FanOut } from './fan-out.js';
import type { DeliveryQueueRow } from './delivery-queue.query.js';
import { DeliveryQueues, type PendingDelivery } from './delivery-queues.js';

let bed: WebhooksBed;
let queues: DeliveryQueues;
let webhook: string;
let stream: string;
let count = 0;

beforeAll(async () => {
  bed = await WebhooksBed.start();
  // The api process sends nothing by itself, so queues only change if a test changes them.
  queues = bed.app.get(DeliveryQueues, { strict: false });
}, 60_000);
afterAll(() => bed?.stop());

const sql = <R extends object = any>(text: string, values: unknown[] = []) =>
  bed.database.tx('system', (tx) => tx.query<R>(text, values));

/** A webhook with two pending events of one stream. */
beforeEach(async () => {
  count += 1;
  stream = `deployment/dep_queue-${count}`;
  webhook = (await bed.register({ url: 'https://hooks.example.com/' }, `ten_${count}`)).id;
  await bed.append(`queue-${count}`, ['rollout.started', 'rollout.promoted'], `ten_${count}`);
  await bed.fanOut(`queue-${count}`, [webhook]);
});
afterEach(() => sql('delete from webhooks'));

const claim = async () => (await queues.claim()) as DeliveryQueueRow;
const first = async (queue: DeliveryQueueRow) => (await queues.pending(queue))[0] as PendingDelivery;
const queueNow = async () =>
  (
    await sql<{ due_at: Date | null; lease_version: string }>(
      'select due_at, lease_version from webhook_lanes where webhook_id = $1 and stream = $2',
      [webhook, stream],
    )
  )[0]!;
const leaseEnds = () =>
  sql(`update webhook_lanes set due_at = now() - interval '1 second' where webhook_id = $1`, [webhook]);
const deliveries = () =>
  sql<{ status: string; attempts: number; error: string | null; next_attempt_at: Date | null }>(
    'select status, attempts, error, next_attempt_at from webhook_deliveries where webhook_id = $1 order by sequence',
    [webhook],
  );
const UNTOUCHED = [
  { status: 'pending', attempts: 0, error: null, next_attempt_at: expect.any(Date) },
  { status: 'pending', attempts: 0, error: null, next_attempt_at: expect.any(Date) },
];
const OK = { status: 204, error: null, durationMs: 3 };
const ERROR = { status: 500, error: 'http_status', durationMs: 3 } as const;

describe('a queue', () => {
  it('belongs to one sender until its lease ends, and then to another', async () => {
    const before = Date.now();
    const claimed = await claim();
    expect(claimed).toMatchObject({ webhook_id: webhook, stream, tenant_id: `ten_${count}` });
    expect((await queueNow()).due_at!.getTime()).toBeGreaterThan(before + queues.timing.timeoutMs);
    expect(await queues.claim()).toBeUndefined();
    await leaseEnds();
    expect(Number((await claim()).lease_version)).toBe(Number(claimed.lease_version) + 1);
  });

  it('is not claimed for a tenant, a webhook or a receiver that has its share', async () => {
    expect(await queues.claim({ tenants: [`ten_${count}`] })).toBeUndefined();
    expect(await queues.claim({ webhooks: [webhook] })).toBeUndefined();
    expect(await queues.claim({ receivers: ['hooks.example.com'] })).toBeUndefined();
    const others = { tenants: ['ten_other'], webhooks: ['whk_other'], receivers: ['example.com'] };
    expect(await queues.claim(others)).toMatchObject({ webhook_id: webhook, receiver: 'hooks.example.com' });
  });

  it.each([
    ['https://hooks.example.com:443/', 'hooks.example.com'],
    ['HTTPS://Hooks.Example.com:0443?a=b:1', 'hooks.example.com'],
    ['https://hooks.example.com:', 'hooks.example.com'],
    ['http://hooks.example.com:80#a', 'hooks.example.com'],
    ['https://hooks.example.com:80/', 'hooks.example.com:80'],
    ['https://hooks.example.com:8443/:443', 'hooks.example.com:8443'],
    ['https://[::1]:443/', '[::1]'],
  ])('of %s belongs to the receiver %s', async (url, receiver) => {
    await sql('update webhooks set url = $2 where id = $1', [webhook, url]);
    expect(await claim()).toMatchObject({ receiver });
  });

  it('comes first if it has been due longest', async () => {
    await bed.append(`older-${count}`, ['rollout.started'], `ten_${count}`);
    const older = `deployment/dep_older-${count}`;
    await bed.fanOut(`older-${count}`, [webhook]);
    await sql(`update webhook_lanes set due_at = now() - interval '1 hour' where stream = $1`, [older]);
    expect([(await claim()).stream, (await claim()).stream]).toEqual([older, stream]);
  });

  it('is renewed by each delivery that ends, so that a long drain keeps it', async () => {
    const queue = await claim();
    await leaseEnds();
    const before = Date.now();
    expect(await queues.succeeded(queue, await first(queue), OK)).toBe(true);
    expect((await queueNow()).due_at!.getTime()).toBeGreaterThan(before + queues.timing.timeoutMs);
    expect(await deliveries()).toMatchObject([{ status: 'succeeded', attempts: 1 }, UNTOUCHED[1]]);
  });

  it('waits as a whole for its first delivery', async () => {
    const queue = await claim();
    const before = Date.now();
    expect(await queues.refused(queue, await first(queue), ERROR)).toBe(false);
    const [refused, next] = await deliveries();
    expect(refused).toMatchObject({ status: 'pending', attempts: 1, error: 'http_status' });
    expect(next).toEqual(UNTOUCHED[1]);
    const { due_at } = await queueNow();
    expect(Math.abs(due_at!.getTime() - refused!.next_attempt_at!.getTime())).toBeLessThan(3_000);
    expect(due_at!.getTime()).toBeGreaterThan(before + 3_000);
    expect(await queues.claim()).toBeUndefined();
  });

  it('keeps its lease, and its wait, when new events arrive', async () => {
    const another = async () => {
      await bed.append(`queue-${count}`, ['route.updated'], `ten_${count}`);
      await bed.fanOut(`queue-${count}`, [webhook]);
    };
    const queue = await claim();
    const leased = await queueNow();
    await another();
    expect(await queueNow()).toEqual(leased);
    await queues.refused(queue, await first(queue), ERROR);
    const waiting = await queueNow();
    await another();
    expect([await queueNow(), (await deliveries()).length]).toEqual([waiting, 4]);
  });

  it('continues after a delivery that failed for the last time', async () => {
    const queue = await claim();
    const delivery = { ...(await first(queue)), attempts: queues.timing.retryDelaysMs.length };
    expect(await queues.refused(queue, delivery, ERROR)).toBe(true);
    expect((await deliveries()).map(({ status }) => status)).toEqual(['failed', 'pending']);
  });

  it('is due at once if it is given back with something left, and otherwise never', async () => {
    const queue = await claim();
    await queues.succeeded(queue, await first(queue), OK);
    await queues.release(queue);
    expect((await queueNow()).due_at!.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    const again = await claim();
    expect(await queues.expired(again, await first(again))).toBe(true);
    expect((await deliveries())[1]).toMatchObject({ status: 'failed', attempts: 0, error: 'event_expired' });
    await queues.release(again);
    expect((await queueNow()).due_at).toBeNull();
    expect(await queues.claim()).toBeUndefined();
  });
});

describe('a sender that was paused beyond its lease', () => {
  /** The rows of a stale sender, after another one has taken the queue. */
  const overtaken = async () => {
    const stale = await claim();
    const delivery = await first(stale);
    await leaseEnds();
    const fresh = await claim();
    return { stale, delivery, fresh, queue: await queueNow() };
  };

  it.each<[string, (stale: DeliveryQueueRow, delivery: PendingDelivery) => Promise<unknown>, unknown]>([
    ['an acceptance', (stale, delivery) => queues.succeeded(stale, delivery, OK), false],
    ['a refusal', (stale, delivery) => queues.refused(stale, delivery, ERROR), false],
    [
      'a last refusal',
      (stale, delivery) => queues.refused(stale, { ...delivery, attempts: queues.timing.retryDelaysMs.length }, ERROR),
      false,
    ],
    ['an event that is no longer kept', (stale, delivery) => queues.expired(stale, delivery), false],
    ['the end of its run', (stale) => queues.release(stale), undefined],
  ])('records nothing of %s and changes no queue', async (_what, write, answer) => {
    const { stale, delivery, fresh, queue } = await overtaken();
    expect(await write(stale, delivery)).toBe(answer);
    expect(await deliveries()).toEqual(UNTOUCHED);
    expect(await queueNow()).toEqual(queue);
    // The current owner of the queue is not disturbed.
    expect(await queues.succeeded(fresh, await first(fresh), OK)).toBe(true);
  });

  it('also records nothing if the other one has given the queue back', async () => {
    const { stale, delivery, fresh } = await overtaken();
    await queues.release(fresh);
    const queue = await queueNow();
    expect(await queues.succeeded(stale, delivery, OK)).toBe(false);
    await queues.refused(stale, delivery, ERROR);
    await queues.release(stale);
    expect([await deliveries(), await queueNow()]).toEqual([UNTOUCHED, queue]);
  });
});

describe('old events', () => {
  /** Returns the first event of the stream that must be kept, or undefined if all may be deleted. */
  const firstNeeded = async (of = stream, kept = 100) => {
    const old = [{ stream: of, tenantId: `ten_${count}`, first: '1', kept: String(kept) }];
    const found = await bed.database.tx('system', (tx) => new WebhookEventRetention().firstNeeded(tx, old));
    const sequence = found.find((one) => one.stream === of)?.sequence;
    return sequence === undefined ? undefined : Number(sequence);
  };

  it('are needed until they are sent, even if they have become deliveries', async () => {
    expect(await firstNeeded()).toBe(1);
    const queue = await claim();
    await queues.succeeded(queue, await first(queue), OK);
    expect(await firstNeeded()).toBe(2);
    await queues.succeeded(queue, await first(queue), OK);
    // The next event to come.
    expect(await firstNeeded()).toBe(3);
    await bed.append(`queue-${count}`, ['rollout.started', 'rollout.promoted'], `ten_${count}`);
    expect(await firstNeeded()).toBe(3);
  });

  it('are needed by the slowest of the webhooks, and by no disabled one', async () => {
    const slow = webhook;
    const { id } = await bed.register({ url: 'https://other.example.com/' }, `ten_${count}`);
    await bed.append(`queue-${count}`, ['rollout.started'], `ten_${count}`);
    await bed.fanOut(`queue-${count}`, [slow, id]);
    expect(await firstNeeded()).toBe(1);
    await sql(`update webhooks set state = 'disabled' where id = $1`, [slow]);
    expect(await firstNeeded()).toBe(3);
    await sql(`update webhooks set state = 'disabled' where id = $1`, [id]);
    expect(await firstNeeded()).toBeUndefined();
  });

  it('of a stream that is new to a webhook are all needed, and those of another tenant are not', async () => {
    await bed.append(`new-${count}`, ['rollout.started'], `ten_${count}`);
    expect(await firstNeeded(`deployment/dep_new-${count}`)).toBe(1);
    await bed.append(`else-${count}`, ['rollout.started'], `ten_else`);
    const old = [{ stream: `deployment/dep_else-${count}`, tenantId: 'ten_else', first: '1', kept: '2' }];
    expect(await bed.database.tx('system', (tx) => new WebhookEventRetention().firstNeeded(tx, old))).toEqual([]);
  });
});

it('a queue skips events that are no longer kept', async () => {
  const cursor = async () =>
    (
      await sql<{ behind: number }>(
        `select (s.last_sequence - l.sequence)::int as behind from webhook_lanes l join event_streams s using (stream) where l.stream = $1`,
        [stream],
      )
    )[0]!.behind;
  await bed.append(`queue-${count}`, ['rollout.started'], `ten_${count}`);
  await sql('delete from events where stream = $1', [stream]);
  expect(await cursor()).toBe(1);
  bed.app.get(FanOut, { strict: false }).look(stream);
  await until('the cursor to be at the end', async () => (await cursor()) === 0);
  expect(await deliveries()).toHaveLength(2);
});

describe('a receiver that is gone', () => {
  it('ends every queue of its webhook at once, even while another worker sends', async () => {
    const queue = await claim();
    const delivery = await first(queue);
    await queues.gone(queue, delivery, 3);
    expect(await deliveries()).toMatchObject([
      { status: 'failed', attempts: 1, error: 'http_status' },
      { status: 'cancelled', attempts: 0 },
    ]);
    expect((await queueNow()).due_at).toBeNull();
    // Even a delivery with an open request no longer counts.
    await sql(`update webhook_deliveries set status = 'pending', completed_at = null where webhook_id = $1`, [webhook]);
    expect(await queues.succeeded(queue, delivery, OK)).toBe(false);
    await queues.release(queue);
    expect((await queueNow()).due_at).toBeNull();
  });

  it('is reported once', async () => {
    const queue = await claim();
    const delivery = await first(queue);
    await queues.gone(queue, delivery, 3);
    await queues.gone(queue, delivery, 3);
    expect(
      await sql(`select 1 from audit_log where resource_name = $1 and action = 'webhook.disable'`, [webhook]),
    ).toHaveLength(1);
    expect((await deliveries())[0]).toMatchObject({ attempts: 1 });
  });
});
