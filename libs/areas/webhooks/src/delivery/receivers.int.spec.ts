import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Receiver } from '../../test/receiver.js';
import { QUICK, until, WebhooksBed } from '../../test/webhooks-bed.js';

const HERE = 'http://127.0.0.1:*';
const operatorWith = (operator: object) => ({ operator: { targets: [], secrets: {}, ...operator } });

let bed: WebhooksBed;
let receiver: Receiver;

beforeAll(async () => {
  bed = await WebhooksBed.start({}, operatorWith({ outbound: { webhooks: [{ origin: HERE, tenants: ['ten_a'] }] } }));
  await bed.nameTenant('ten_a');
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await bed.idle();
  await receiver.stop();
});

const failed = async (id: string) => {
  const deliveries = () => bed.deliveries(id);
  await until('a refusal', async () => (await deliveries())[0]?.attempts > 0, deliveries);
  return (await deliveries())[0];
};

it('a private receiver serves only the tenants it is named for, both at registration and at delivery', async () => {
  expect(
    (await bed.send('POST', '/webhooks', { tenant: 'ten_b', body: { url: receiver.url } })).body.error,
  ).toMatchObject({ code: 'validation_failed', details: [{ field: 'url', code: 'url_not_allowed' }] });
  const { id } = await bed.register({ url: receiver.url });
  await bed.append('chat-1', ['route.updated']);
  await bed.worker();
  await until('the event', () => receiver.received.length === 1);
  await bed.idle();

  await bed.worker(QUICK, operatorWith({ outbound: { webhooks: [{ origin: HERE, tenants: ['ten_b'] }] } }));
  await bed.append('chat-2', ['route.updated']);
  await failed(id);
  expect(receiver.received).toHaveLength(1);
  await bed.send('DELETE', `/webhooks/${id}`);
});

it('an address that may be adopted as an engine is no receiver', async () => {
  const { id } = await bed.register({ url: receiver.url });
  await bed.worker(QUICK, operatorWith({ targets: [{ name: 'adopted', kind: 'endpoint', allow: [HERE] }] }));
  await bed.append('chat-3', ['route.updated']);
  await failed(id);
  expect(receiver.received).toEqual([]);
  await bed.send('DELETE', `/webhooks/${id}`);
});

it('a port of Slipway itself is no receiver, whatever the operator allows', async () => {
  const { id } = await bed.register({ url: receiver.url });
  await bed.worker(QUICK, { ownPorts: [Number(new URL(receiver.url).port)] });
  await bed.append('chat-4', ['route.updated']);
  await failed(id);
  expect(receiver.received).toEqual([]);
});
