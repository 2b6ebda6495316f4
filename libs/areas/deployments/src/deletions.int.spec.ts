import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { reportGateway } from '@slipway/dataplane';
import { OperationStore } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DeploymentsBed } from '../test/deployments-bed.js';

const ACTOR = { type: 'token', id: 'tok_1' } as const;

let bed: DeploymentsBed;
let store: OperationStore;
let port: DeploymentsPort;
let count = 0;
let name: string;
let id: string;

beforeAll(async () => {
  bed = await DeploymentsBed.start();
  store = bed.app.get(OperationStore, { strict: false });
  port = bed.app.get(DEPLOYMENTS, { strict: false });
}, 60_000);
afterAll(() => bed?.stop());

/** A deployment with a route to r1, and a revision r2 that is only warm. */
beforeEach(async () => {
  count += 1;
  name = `doomed-${count}`;
  const set = { description: 'to be deleted', labels: { team: 'a' }, default_strategy: { type: 'recreate' } };
  id = (await bed.send('POST', '/deployments', { body: { name, ...set } })).body.id;
  bed.neighbours.calls.length = 0;
  bed.neighbours.failOn = undefined;
  bed.neighbours.lingering.clear();
  bed.neighbours.routes.set(id, {
    deploymentId: id,
    generation: 1,
    affinity: { mode: 'soft', ttlSeconds: 600 },
    targets: [{ revisionId: 'r1', revisionName: 'one', weight: 100 }],
  });
  for (const revision of ['r1', 'r2'])
    bed.neighbours.statuses.set(revision, { desired: 1, ready: 1, alive: 1, restarts: 0, message: null, baseUrls: [] });
  bed.neighbours.revisions.set(id, ['r1', 'r2']);
});

/** A live gateway that serves this generation of the deployment's route. */
const gatewayFollows = (generation: number) =>
  bed.database.tx('system', async (tx) => {
    const followed = [{ deployment_id: id, tenant_id: 'ten_a', generation }];
    await reportGateway(tx, { gatewayId: 'gw', statsUntil: null, followed, inFlight: [] });
    await tx.query(`update dataplane_gateways set seen_at = now() + interval '1 hour'`);
  });
const gatewayRows = () =>
  bed.database.read<{ generation: number }>(
    'system',
    'select generation::int from dataplane_routes where deployment_id = $1',
    [id],
  );
const get = () => bed.send('GET', `/deployments/${name}`);
const remove = (headers: Record<string, string> = {}) => bed.send('DELETE', `/deployments/${name}`, { headers });

it('removes the route, stops instances, retires revisions, and frees the name', async () => {
  // The gateways know the name until the deployment is gone.
  expect(await gatewayRows()).toEqual([{ generation: 0 }]);
  const accepted = await remove();
  expect(accepted.status).toBe(202);
  const { operation } = accepted.body;
  expect(accepted.body).toMatchObject({
    created: true,
    operation: { kind: 'delete_deployment', status: 'pending', resource_name: name, resource_type: 'deployment' },
  });
  expect(operation.steps.map((step: { name: string }) => step.name)).toEqual([
    'release_route',
    'drain',
    'stop_instances',
    'remove',
  ]);
  expect(accepted.headers).toMatchObject({ location: `/api/v1/operations/${operation.id}`, 'retry-after': '1' });
  expect((await get()).body).toMatchObject({
    state: 'deleting',
    current_operation_id: operation.id,
    conditions: [{ status: 'False', reason: 'Deleting' }, { status: 'True', reason: 'Deleting' }, { status: 'False' }],
  });
  expect(bed.neighbours.owners.get(id)).toBe(operation.id);

  expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded', result: { outcome: 'deleted' } });
  expect((await get()).status).toBe(404);
  expect(bed.neighbours.owners.has(id)).toBe(false);
  const { calls } = bed.neighbours;
  for (const revision of ['r1', 'r2'])
    for (const holder of ['route', 'warm'])
      expect([
        calls,
        bed.neighbours.inOrder(`remove ${id}`, `release ${revision} ${holder}`, `retired ${revision}`),
      ]).toEqual([calls, true]);
  for (const what of ['revisions', 'policies'])
    expect(bed.neighbours.inOrder('retired r2', `remove ${what} of ${id}`)).toBe(true);
  // The rest of it counts as little as possible in the tenant's quotas.
  expect(
    await bed.database.read('system', 'select labels, description, default_strategy from deployments where id = $1', [
      id,
    ]),
  ).toEqual([{ labels: {}, description: null, default_strategy: null }]);
  expect(await gatewayRows()).toEqual([]);
  expect(
    await bed.database.read('system', `select action from audit_log where resource_name = $1 order by at`, [name]),
  ).toEqual([{ action: 'deployment.create' }, { action: 'deployment.delete' }]);
  const again = await bed.send('POST', '/deployments', { body: { name } });
  expect({ status: again.status, isNew: again.body.id !== id }).toEqual({ status: 201, isNew: true });
});

it('waits for requests in flight, and shows until when and how to end them', async () => {
  bed.neighbours.inFlight.set('r1', 1);
  bed.neighbours.lingering.add('r1');
  bed.neighbours.drains.set(id, [{ revisionName: 'one', requests: 1, until: '2026-01-01T00:10:00.000Z' }]);
  try {
    const { operation } = (await remove()).body;
    expect(await bed.drive(operation.id)).toMatchObject({ current_step: 'stop_instances' });
    const waiting = {
      status: 'running',
      current_step: 'stop_instances',
      message:
        'The instances stop after the end of 1 request in flight, at 2026-01-01T00:10:00.000Z at the latest. Running `slipway deployments end-drain` stops them now.',
    };
    expect(await bed.drive(operation.id)).toMatchObject(waiting);
    await bed.age(operation.id, 3_600);
    const record = await bed.drive(operation.id);
    expect(record).toMatchObject(waiting);
    expect(record.steps[1].message).toBe('1 request is in flight and may end.');
    expect(bed.neighbours.calls).not.toContain('retired r1');
    expect((await bed.send('POST', `/deployments/${name}/end-drain`)).status).toBe(200);
    bed.neighbours.statuses.delete('r1');
    expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
  } finally {
    bed.neighbours.inFlight.delete('r1');
    bed.neighbours.drains.delete(id);
  }
});

it('waits for a gateway that still serves the removed route', async () => {
  // There are no requests in flight yet, but such a gateway may start one at any moment.
  await gatewayFollows(1);
  try {
    const { operation } = (await remove()).body;
    const message = 'Waiting for 1 gateway to stop serving the removed route.';
    const draining = { status: 'running', current_step: 'drain', message };
    expect(await bed.drive(operation.id)).toMatchObject(draining);
    expect(await bed.drive(operation.id)).toMatchObject(draining);
    expect(bed.neighbours.calls).toEqual([`remove ${id}`]);
    await gatewayFollows(2);
    expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
  } finally {
    await bed.database.tx('system', (tx) => tx.query('delete from dataplane_gateways'));
  }
});

it('does not drain if there was no route', async () => {
  bed.neighbours.routes.delete(id);
  bed.neighbours.inFlight.set('r1', 1);
  try {
    const { operation } = (await remove()).body;
    expect(await bed.drive(operation.id)).toMatchObject({ current_step: 'stop_instances' });
    expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
  } finally {
    bed.neighbours.inFlight.delete('r1');
  }
});

it('continues without a gateway that does not follow, and reports it', async () => {
  await gatewayFollows(1);
  try {
    const { operation } = (await remove()).body;
    await bed.drive(operation.id);
    await bed.age(operation.id, 15);
    expect(await bed.drive(operation.id)).toMatchObject({ current_step: 'drain' });
    await bed.age(operation.id, 16);
    const record = await bed.drive(operation.id);
    expect(record).toMatchObject({ current_step: 'stop_instances' });
    expect(record.steps[1]).toMatchObject({
      status: 'succeeded',
      message: '1 gateway still served the removed route after 30 s. The deletion continues.',
      evidence: { in_flight: 0, gateways_behind: 1 },
    });
  } finally {
    await bed.database.tx('system', (tx) => tx.query('delete from dataplane_gateways'));
  }
});

it('waits until all instances are known to have ended, however long that takes, and names them', async () => {
  bed.neighbours.lingering.add('r1');
  bed.neighbours.why = "the operator's file does not name the target";
  const { operation } = (await remove()).body;
  await bed.drive(operation.id);
  const stopping = { status: 'running', current_step: 'stop_instances', message: '1 instance is stopping.' };
  expect(await bed.drive(operation.id)).toMatchObject(stopping);
  await bed.age(operation.id, 15);
  expect(await bed.drive(operation.id)).toMatchObject(stopping);
  await bed.age(operation.id, 16);
  const named = {
    ...stopping,
    message:
      "1 instance is not known to have stopped: ins_r1 on target gpu-old (the operator's file does not name the target). The deletion continues when the target reports their end. If the target no longer exists, its operator can give them up with `abandoned_targets`.",
  };
  expect(await bed.drive(operation.id)).toMatchObject(named);
  await bed.age(operation.id, 86_400);
  expect(await bed.drive(operation.id)).toMatchObject(named);
  expect(bed.neighbours.calls).not.toContain('retired r1');
  bed.neighbours.statuses.delete('r1');
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
  expect(bed.neighbours.calls).toContain('retired r1');
});

it('does not wait for an instance that a binding retains', async () => {
  bed.neighbours.lingering.add('r1');
  const { operation } = (await remove()).body;
  await bed.drive(operation.id);
  bed.neighbours.statuses.set('r1', { desired: 1, ready: 1, alive: 1, restarts: 0, message: null, baseUrls: [] });
  expect(await bed.drive(operation.id)).toMatchObject({ status: 'succeeded' });
});

it('retires all revisions of the deployment, any number of them', async () => {
  const many = Array.from({ length: 250 }, (_, index) => `m${index}`);
  bed.neighbours.revisions.set(id, ['r1', 'r2', ...many]);
  expect(await bed.finish((await remove()).body.operation.id)).toMatchObject({ status: 'succeeded' });
  const retired = bed.neighbours.calls.filter((call) => call.startsWith('retired '));
  expect(new Set(retired).size).toBe(252);
});

it('refuses a deletion while an operation is live or if the ETag is not the current one', async () => {
  const { etag } = (await get()).body;
  await bed.database.tx('system', (tx) =>
    port.update(tx, id, { currentOperationId: 'op_rollout', state: 'progressing' }),
  );
  const stale = await remove({ 'if-match': etag });
  expect([stale.status, stale.body.error.code]).toEqual([412, 'precondition_failed']);
  const busy = await remove();
  expect([busy.status, busy.body.error.code, busy.body.error.operation_id]).toEqual([
    409,
    'operation_in_progress',
    'op_rollout',
  ]);
  expect(await bed.database.read('system', `select id from operations where resource_name = $1`, [name])).toEqual([]);
  await bed.database.tx('system', (tx) => port.update(tx, id, { currentOperationId: null, state: 'active' }));
  const current = (await get()).body.etag;
  expect((await remove({ 'if-match': current })).status).toBe(202);
  expect((await remove()).body.error.code).toBe('operation_in_progress');
});

it('starts once for many concurrent requests', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => remove()));
  expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409, 409, 409, 409, 409, 409, 409]);
});

it('restores the deployment if it is cancelled before its first step', async () => {
  await bed.database.tx('system', (tx) => port.update(tx, id, { activeRevisionId: 'r1' }));
  const { operation } = (await remove()).body;
  await bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.cancel(tx, operation.id, ACTOR));
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'cancelled', result: { outcome: 'kept' } });
  expect((await get()).body).toMatchObject({
    current_operation_id: null,
    conditions: [{ status: 'True' }, { type: 'Progressing', status: 'False', reason: 'Idle' }, {}],
  });
  expect(bed.neighbours.owners.has(id)).toBe(false);
  expect(bed.neighbours.calls).toEqual([]);
});

it('cannot be cancelled once the route is removed, and a retry continues at the failed step', async () => {
  bed.neighbours.failOn = 'retired r2';
  const { operation } = (await remove()).body;
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'failed', error_code: 'attempts_exhausted' });
  expect((await get()).body).toMatchObject({ state: 'failed', current_operation_id: null });
  bed.neighbours.failOn = undefined;
  expect(bed.neighbours.owners.has(id)).toBe(false);
  // A person sets a route again in between.
  bed.neighbours.routes.set(id, {
    deploymentId: id,
    generation: 3,
    affinity: { mode: 'soft', ttlSeconds: 600 },
    targets: [{ revisionId: 'r1', revisionName: 'one', weight: 100 }],
  });
  await bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.retry(tx, operation.id, ACTOR));
  expect(bed.neighbours.owners.get(id)).toBe(operation.id);
  expect((await get()).body).toMatchObject({ state: 'deleting', current_operation_id: operation.id });
  await expect(
    bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.cancel(tx, operation.id, ACTOR)),
  ).rejects.toMatchObject({ code: 'operation_not_cancellable' });
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
  expect((await get()).status).toBe(404);
  expect(bed.neighbours.routes.has(id)).toBe(false);
});

it('refuses a retry during another operation', async () => {
  bed.neighbours.failOn = 'retired r2';
  const { operation } = (await remove()).body;
  await bed.finish(operation.id);
  await bed.database.tx('system', (tx) => port.update(tx, id, { currentOperationId: 'op_other' }));
  await expect(
    bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.retry(tx, operation.id, ACTOR)),
  ).rejects.toMatchObject({ code: 'operation_in_progress', extra: { operation_id: 'op_other' } });
});
