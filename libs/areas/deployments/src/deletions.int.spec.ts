import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { appendEvents, OperationRunner, OperationStore } from '@slipway/platform-operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports';
import { DeploymentsBed } from '../test/deployments-bed.js';

const ACTOR = { type: 'token', id: 'tok_1' };

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

/** A deployment with a route on r1, and a revision r2 that is merely warm. */
beforeEach(async () => {
  count += 1;
  name = `doomed-${count}`;
  id = (await bed.send('POST', '/deployments', { body: { name } })).body.id;
  bed.neighbours.calls.length = 0;
  bed.neighbours.failOn = undefined;
  bed.neighbours.routes.set(id, {
    deploymentId: id,
    generation: 1,
    affinity: { mode: 'soft', ttlSeconds: 600 },
    targets: [{ revisionId: 'r1', revisionName: 'one', weight: 100 }],
  });
  for (const revision of ['r1', 'r2'])
    bed.neighbours.statuses.set(revision, { desired: 1, ready: 1, alive: 1, restarts: 0, message: null, baseUrls: [] });
  await bed.database.tx('system', async (tx) => {
    const created = ['r1', 'r2'].map((revisionId) => ({
      type: 'revision.created',
      subject: `revisions/${revisionId}`,
      actor: ACTOR,
      revisionId,
      data: {},
    }));
    await appendEvents(tx, 'ten_a', `deployment/${id}`, created);
  });
});

const get = () => bed.send('GET', `/deployments/${name}`);
const remove = (headers: Record<string, string> = {}) => bed.send('DELETE', `/deployments/${name}`, { headers });

it('takes the route away, stops instances, retires revisions, and frees the name', async () => {
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
  expect(calls.indexOf(`remove ${id}`)).toBeLessThan(calls.indexOf('release r1 warm'));
  expect(calls).toEqual(expect.arrayContaining(['release r1 route', 'release r2 warm', 'retired r1', 'retired r2']));
  expect(await bed.database.read('system', 'select 1 from dataplane_routes where deployment_id = $1', [id])).toEqual(
    [],
  );
  expect(
    await bed.database.read('system', `select action from audit_log where resource_name = $1 order by at`, [name]),
  ).toEqual([{ action: 'deployment.create' }, { action: 'deployment.delete' }]);
  const again = await bed.send('POST', '/deployments', { body: { name } });
  expect({ status: again.status, isNew: again.body.id !== id }).toEqual({ status: 201, isNew: true });
});

it('waits for requests in flight before it stops anything', async () => {
  bed.neighbours.inFlight.set('r1', 1);
  const { operation } = (await remove()).body;
  const runner = bed.app.get(OperationRunner, { strict: false });
  await runner.drive(operation.id);
  expect(bed.neighbours.calls).toEqual([`remove ${id}`]);
  const record = JSON.parse(
    (await bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.record(tx, operation.id))) as string,
  );
  expect(record).toMatchObject({ status: 'running', current_step: 'drain', message: '1 requests are in flight' });
  bed.neighbours.inFlight.delete('r1');
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
});

it('is refused while an operation is live, and for another state than the client saw', async () => {
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

it('begins once when many ask at once', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => remove()));
  expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409, 409, 409, 409, 409, 409, 409]);
});

it('puts the deployment back when it is cancelled before it has begun', async () => {
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

it('cannot be cancelled once the route is gone, and goes on by a retry where it failed', async () => {
  bed.neighbours.failOn = 'retired r2';
  const { operation } = (await remove()).body;
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'failed', error_code: 'attempts_exhausted' });
  expect((await get()).body).toMatchObject({ state: 'failed', current_operation_id: null });
  bed.neighbours.failOn = undefined;
  await bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.retry(tx, operation.id, ACTOR));
  expect((await get()).body).toMatchObject({ state: 'deleting', current_operation_id: operation.id });
  await expect(
    bed.database.tx({ tenantId: 'ten_a' }, (tx) => store.cancel(tx, operation.id, ACTOR)),
  ).rejects.toMatchObject({ code: 'operation_not_cancellable' });
  expect(await bed.finish(operation.id)).toMatchObject({ status: 'succeeded' });
  expect((await get()).status).toBe(404);
});
