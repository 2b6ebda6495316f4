import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Receiver } from '../../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../../test/webhooks-bed.js';

let bed: WebhooksBed;
let receiver: Receiver;

beforeAll(async () => {
  bed = await WebhooksBed.start({ webhook_deliveries: 10 });
  receiver = await Receiver.start();
}, 60_000);
afterAll(async () => {
  await bed?.stop();
  await receiver?.stop();
});

it("fan-out stops at a tenant's limit of waiting deliveries, delays no other tenant, and loses nothing", async () => {
  let isWell = false;
  receiver.behave = ({ event }, response) =>
    response.writeHead(isWell || event.subject === 'deployments/quick' ? 204 : 503).end();
  const [slow, also] = [
    await bed.register({ url: receiver.url }, 'slow'),
    await bed.register({ url: receiver.url }, 'slow'),
  ];
  const quick = await bed.register({ url: receiver.url }, 'quick');
  // A delivery only ends when it fails for good. Here each is retried for as long as the test takes.
  await bed.worker({ ...QUICK, retryDelaysMs: Array(1_000).fill(100) });
  const types = Array(4).fill('route.updated');
  for (const deployment of ['a', 'b', 'c']) await bed.append(deployment, types, 'slow');
  const waiting = async () =>
    (await bed.deliveries(slow.id, 'slow')).length + (await bed.deliveries(also.id, 'slow')).length;
  await until('as many wait as may', async () => (await waiting()) >= 8);
  await bed.append('quick', types, 'quick');
  await until('another tenant is sent its own', async () => {
    const sent = await bed.deliveries(quick.id, 'quick');
    return sent.length === 4 && sent.every(({ status }) => status === 'succeeded');
  });
  expect(await waiting()).toBeLessThanOrEqual(10);
  isWell = true;
  await until('all have been sent', async () => {
    const all = [...(await bed.deliveries(slow.id, 'slow')), ...(await bed.deliveries(also.id, 'slow'))];
    return all.length === 24 && all.every(({ status }) => status === 'succeeded');
  });
  for (const deployment of ['a', 'b', 'c']) {
    const got = receiver.received.filter(({ event }) => event.subject === `deployments/${deployment}`);
    expect(new Set(got.map(({ event }) => event.id)).size).toBe(4);
  }
});
