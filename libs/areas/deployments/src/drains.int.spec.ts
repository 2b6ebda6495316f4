import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { DeploymentsBed } from '../test/deployments-bed.js';

const UNTIL = '2026-01-01T00:10:00.000Z';

let bed: DeploymentsBed;
let count = 0;
let name: string;
let id: string;

beforeAll(async () => {
  bed = await DeploymentsBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(async () => {
  name = `drained-${(count += 1)}`;
  id = (await bed.send('POST', '/deployments', { body: { name } })).body.id;
});

const get = async () => (await bed.send('GET', `/deployments/${name}`)).body;
const patch = (body: object) => bed.send('PATCH', `/deployments/${name}`, { body });
const end = () => bed.send('POST', `/deployments/${name}/end-drain`);
const drain = () =>
  bed.neighbours.drains.set(id, [
    { revisionName: 'one', requests: 2, until: UNTIL },
    { revisionName: 'two', requests: 1, until: UNTIL },
  ]);
const traces = async () => ({
  events: (
    await bed.sql(`select data from events where stream = $1 and type = 'deployment.drain_ended'`, [`deployment/${id}`])
  ).map(({ data }: { data: unknown }) => data),
  audits: (
    await bed.sql(`select action from audit_log where resource_name = $1 and action = 'deployment.end_drain'`, [name])
  ).length,
});

it('has a time for requests in flight, which is a setting', async () => {
  expect((await get()).drain_seconds).toBe(600);
  expect((await patch({ drain_seconds: 0 })).body.drain_seconds).toBe(0);
  expect((await patch({ drain_seconds: 86_400 })).body.drain_seconds).toBe(86_400);
  for (const wrong of [-1, 86_401]) {
    const { status, body } = await patch({ drain_seconds: wrong });
    expect([status, body.error.details[0].field]).toEqual([422, 'drain_seconds']);
  }
  expect((await patch({ drain_seconds: null })).body.drain_seconds).toBe(600);
  const made = await bed.send('POST', '/deployments', { body: { name: `${name}-own`, drain_seconds: 5 } });
  expect(made.body).toMatchObject({ drain_seconds: 5, draining: null });
});

it('shows the requests that instances wait for, also in a list', async () => {
  expect((await get()).draining).toBeNull();
  drain();
  const draining = {
    requests: 3,
    revisions: [
      { revision: 'one', requests: 2, until: UNTIL },
      { revision: 'two', requests: 1, until: UNTIL },
    ],
  };
  expect((await get()).draining).toEqual(draining);
  const { data } = (await bed.send('GET', '/deployments')).body;
  expect(data.find((one: { id: string }) => one.id === id).draining).toEqual(draining);
});

it('ends its drains at the request of an operator, with an event and an entry in the audit log', async () => {
  drain();
  const { etag } = await get();
  const ended = await end();
  expect([ended.status, ended.body.id, ended.body.draining, ended.body.etag]).toEqual([200, id, null, etag]);
  const event = { deployment_id: id, name, revisions: ['one', 'two'], requests: 3 };
  expect(await traces()).toEqual({ events: [event], audits: 1 });
  // A repeated request ends nothing.
  expect((await end()).body.draining).toBeNull();
  expect((await traces()).events).toEqual([event]);
});

it('is not found for a deployment that does not exist', async () => {
  const { status, body } = await bed.send('POST', '/deployments/unknown/end-drain');
  expect([status, body.error.code]).toEqual([404, 'deployment_not_found']);
});
