import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DeploymentsBed } from '../test/deployments-bed.js';

const PRICES = { 'nvidia-l4': { price_per_hour: { amount: 0.8, currency: 'EUR' } } };
let bed: DeploymentsBed;
let port: DeploymentsPort;
let count = 0;
let name: string;
let revision: string;

beforeAll(async () => {
  bed = await DeploymentsBed.start({ accelerators: PRICES });
  port = bed.app.get(DEPLOYMENTS, { strict: false });
  bed.neighbours.devices.set('one', { accelerator: 'nvidia-l4', count: 1 });
  bed.neighbours.devices.set('four', { accelerator: 'nvidia-l4', count: 4 });
  bed.neighbours.devices.set('dear', { accelerator: 'nvidia-h100', count: 2 });
  bed.neighbours.devices.set('any', { accelerator: null, count: 1 });
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  count += 1;
  name = `chat-${count}`;
  revision = `rev_${count}`;
});

const shown = async () => (await bed.send('GET', `/deployments/${name}`)).body;
const cost = async () => (await shown()).cost;
const instances = (id: string, alive: number, ready = alive) =>
  bed.neighbours.statuses.set(id, { desired: alive, ready, alive, restarts: 0, message: null, baseUrls: [] });

/** Makes a deployment whose active revision has an engine, without a route. */
async function activate(engine: string, alive: number, ready = alive): Promise<string> {
  const { id } = (await bed.send('POST', '/deployments', { body: { name } })).body;
  bed.neighbours.engines.set(revision, engine);
  instances(revision, alive, ready);
  await bed.database.tx('system', (tx) => port.update(tx, id, { activeRevisionId: revision }));
  return id;
}

it.each([
  ['one', 1, { per_hour: { amount: 0.8, currency: 'EUR' }, devices: 1, accelerator: 'nvidia-l4' }],
  ['four', 3, { per_hour: { amount: 9.6, currency: 'EUR' }, devices: 12, accelerator: 'nvidia-l4' }],
  ['four', 0, { per_hour: { amount: 0, currency: 'EUR' }, devices: 0, accelerator: 'nvidia-l4' }],
  ['dear', 2, { per_hour: null, devices: 4, accelerator: 'nvidia-h100' }],
  ['any', 2, { per_hour: null, devices: 2, accelerator: null }],
  ['none', 2, null],
])('an engine that takes %s, with %d instances, costs %j', async (engine, alive, expected) => {
  await activate(engine, alive);
  expect(await cost()).toEqual(expected);
});

it('a deployment without an active revision has no cost', async () => {
  const created = await bed.send('POST', '/deployments', { body: { name } });
  expect(created.body.cost).toBeNull();
  expect(await cost()).toBeNull();
});

it('counts instances that start, and only those of the active revision, with and without a route', async () => {
  const id = await activate('one', 3, 1);
  expect(await cost()).toMatchObject({ devices: 3 });
  const candidate = `${revision}-next`;
  bed.neighbours.engines.set(candidate, 'four');
  instances(candidate, 2);
  bed.neighbours.routes.set(id, {
    deploymentId: id,
    generation: 1,
    affinity: { mode: 'soft', ttlSeconds: 600 },
    targets: [
      { revisionId: revision, revisionName: 'one', weight: 50 },
      { revisionId: candidate, revisionName: 'two', weight: 50 },
    ],
  });
  expect(await shown()).toMatchObject({ cost: { devices: 3 }, replicas: { desired: 5 } });
  const list = await bed.send('GET', '/deployments');
  expect(list.body.data.find((one: { name: string }) => one.name === name).cost).toEqual(await cost());
});

it("follows the price in the operator's file, and is not part of the ETag", async () => {
  await activate('one', 2);
  const before = await shown();
  const { price_per_hour: price } = PRICES['nvidia-l4'];
  price.amount = 1.25;
  try {
    const after = await shown();
    expect(after.cost.per_hour).toEqual({ amount: 2.5, currency: 'EUR' });
    expect(after.etag).toBe(before.etag);
  } finally {
    price.amount = 0.8;
  }
});
