import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Receiver, type ReceivedDelivery } from '../../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../../test/webhooks-bed.js';
import { PRODUCT_TIMING } from './delivery-timing.js';

/** Requests to a receiver that never answers are still open when a test ends. */
const PATIENT = { ...QUICK, timeoutMs: PRODUCT_TIMING.timeoutMs, leaseMs: PRODUCT_TIMING.leaseMs };

let bed: WebhooksBed;
let slow: Receiver;
const receivers: Receiver[] = [];
let count = 0;
/** One for each test, so that it finds no queue of another. */
let tenant: string;

beforeAll(async () => {
  bed = await WebhooksBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  count += 1;
  tenant = `ten_${count}`;
  slow = await receive();
});
afterEach(async () => {
  // The sockets close first: a worker that stops waits for answers.
  for (const receiver of receivers.splice(0)) await receiver.stop();
  await bed.idle();
});

async function receive(): Promise<Receiver> {
  const receiver = await Receiver.start();
  receivers.push(receiver);
  return receiver;
}

const subjects = (receiver: Receiver) =>
  receiver.received.map(({ event }: ReceivedDelivery) => event.subject as string);
/** Registers four webhooks for one receiver that never answers, each with an event in four streams, due now. */
async function hang(owner: string, receiver: Receiver): Promise<void> {
  receiver.behave = () => undefined;
  const webhooks: string[] = [];
  for (let index = 0; index < 4; index += 1) webhooks.push((await bed.register({ url: receiver.url }, owner)).id);
  for (let index = 0; index < 4; index += 1) {
    await bed.append(`${owner}-${index}`, ['rollout.started'], owner);
    await bed.fanOut(`${owner}-${index}`, webhooks);
  }
}
const runs = async (id: string) =>
  (
    await bed.database.read<{ runs: number }>(
      'system',
      'select sum(lease_version)::int as runs from webhook_lanes where webhook_id = $1',
      [id],
    )
  )[0]!.runs;
const sent = async (id: string) =>
  (await bed.deliveries(id, tenant)).filter(({ status }) => status === 'succeeded').length;

describe('next to a tenant whose receiver never answers', () => {
  it('another tenant is served at once, by a single worker', async () => {
    await hang(tenant, slow);
    const quick = await receive();
    await bed.register({ url: quick.url }, `${tenant}_quick`);
    await bed.worker(PATIENT);
    await until('the slow tenant to have what it can get', () => slow.received.length >= 8);
    const begun = performance.now();
    for (let index = 0; index < 5; index += 1)
      await bed.append(`quick-${count}-${index}`, ['rollout.started'], `${tenant}_quick`);
    await until('its events', () => quick.received.length === 5);
    const tookMs = performance.now() - begun;
    // A tenant without a sender would wait for a time-out of the slow one. A busy machine may need seconds.
    expect(tookMs).toBeLessThan(PATIENT.timeoutMs * 0.8);
    // Half of the senders, and no time-out has freed any of them yet.
    expect(slow.received).toHaveLength(8);
  });

  it('another slow tenant gets its quarter before any tenant gets more', async () => {
    const other = await receive();
    await hang(tenant, slow);
    await hang(`${tenant}_other`, other);
    await bed.worker(PATIENT);
    const counts = () => [slow.received.length, other.received.length];
    await until('both to have what they can get', () => counts()[0]! + counts()[1]! >= 11, counts);
    // A quarter each, and of the other half no more than they leave free. Not sixteen for the tenant whose queues were
    // due first.
    expect(counts()).toEqual([6, 5]);
  });
});

describe('a run of a queue', () => {
  it('has twenty deliveries at most', async () => {
    const { id } = await bed.register({ url: slow.url }, tenant);
    await bed.append('long', Array<string>(41).fill('route.updated'), tenant);
    await bed.worker(PATIENT);
    await until('all', async () => (await sent(id)) === 41);
    expect(await runs(id)).toBe(3);
    expect(slow.ids).toEqual(await bed.eventIds('long'));
  });

  it('ends after the time of one request, so that no slow stream makes the next one wait for its end', async () => {
    slow.behave = (_request, response) => void setTimeout(() => response.writeHead(204).end(), 200);
    const streams = Array.from({ length: 5 }, (_, index) => `run-${index}`);
    const { id } = await bed.register({ url: slow.url }, tenant);
    for (const stream of streams) await bed.append(stream, Array<string>(12).fill('route.updated'), tenant);
    // Shorter than the 2.4 s of a stream, and long enough for one answer of a busy machine.
    await bed.worker({ ...QUICK, timeoutMs: 1_500 });
    await until('all', async () => (await sent(id)) === 60);
    // A webhook has four senders, so one of five streams has to wait for a run of the others.
    const begins = streams.map((stream) => subjects(slow).indexOf(`deployments/${stream}`));
    const ends = streams.map((stream) => subjects(slow).lastIndexOf(`deployments/${stream}`));
    expect(Math.max(...begins)).toBeLessThan(Math.min(...ends));
    for (const stream of streams)
      expect(slow.received.filter(({ event }) => event.subject.endsWith(stream)).map(({ event }) => event.id)).toEqual(
        await bed.eventIds(stream),
      );
  });

  it('is used up by one time-out', async () => {
    slow.behave = ({ event }, response) => {
      if (event.type !== 'rollout.started') response.writeHead(204).end();
    };
    const { id } = await bed.register({ url: slow.url }, tenant);
    await bed.append('late', ['rollout.started', 'route.updated'], tenant);
    // No retry: the next delivery may follow, and does so in the next run.
    await bed.worker({ ...QUICK, timeoutMs: 1_000, retryDelaysMs: [] });
    await until('the second', async () => (await sent(id)) === 1);
    await until('the end of its run', async () => (await runs(id)) >= 2);
    expect(slow.received).toHaveLength(2);
  });
});
