import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Deployment } from '@slipway/ports/deployment-records';
import type { Revision } from '@slipway/ports/revisions';
import type { RouteChange } from '@slipway/ports/routing';
import { RoutingBed } from '../test/routing-bed.js';

const HOLD = { maxSeconds: 90, estimatedSeconds: 40 };

let bed: RoutingBed;
let count = 0;
let deployment: Deployment;
let one: Revision;
let two: Revision;

beforeAll(async () => {
  bed = await RoutingBed.start();
}, 60_000);
afterAll(() => bed?.stop());
beforeEach(() => {
  count += 1;
  deployment = bed.neighbours.addDeployment(`held${count}`);
  one = bed.neighbours.addRevision(deployment, 1);
  two = bed.neighbours.addRevision(deployment, 2);
});

const apply = (revision: Revision, more: Partial<RouteChange> = {}) =>
  bed.database.tx('system', (tx) =>
    bed.routes.apply(tx, {
      tenantId: 'ten_a',
      deploymentId: deployment.id,
      deploymentName: deployment.name,
      targets: [{ revisionId: revision.id, revisionName: revision.name, weight: 100 }],
      updatedBy: { type: 'token', id: 'tok_1' },
      keepPreviousSeconds: 0,
      ...more,
    }),
  );
const shown = async () => (await bed.send('GET', `/deployments/${deployment.name}/route`)).body;
const published = async () =>
  (
    await bed.database.read<{ generation: number; hold: any }>(
      'system',
      'select generation::int, hold from dataplane_routes where deployment_id = $1',
      [deployment.id],
    )
  )[0]!;
const take = (operationId: string) =>
  bed.database.tx('system', (tx) => bed.routes.takeTraffic(tx, deployment.id, operationId));
const operation = (id: string, status: string) =>
  bed.database.tx('system', (tx) =>
    tx.query(
      `insert into operations (id, tenant_id, kind, status, resource_type, resource_id, resource_name, requested_by, stream, input)
       values ($1, 'ten_a', 'rollout', $2, 'deployment', 'dep', 'held', '{}', 's', '{}')
       on conflict (id) do update set status = excluded.status`,
      [id, status],
    ),
  );

it('a hold is its own generation with the same targets, and ends with the next one', async () => {
  await apply(one);
  await apply(one, { hold: HOLD });
  const { generation, hold } = await shown();
  expect([generation, hold]).toEqual([2, { max_seconds: 90, estimated_seconds: 40, since: expect.any(String) }]);
  expect(await published()).toEqual({ generation: 2, hold });
  const [event] = await bed.database.read<{ data: any }>(
    'system',
    'select data from events where stream = $1 order by sequence desc limit 1',
    [`deployment/${deployment.id}`],
  );
  expect(event!.data.hold).toEqual(hold);
  // The same targets matter to waiting requests, because the hold has ended.
  await apply(one);
  expect(await published()).toEqual({ generation: 3, hold: null });
  expect((await shown()).hold).toBeNull();
});

it('a hold needs no ready revision, and keeps the start of the first of consecutive holds', async () => {
  await apply(one);
  await apply(one, { hold: HOLD });
  const { since } = (await published()).hold;
  bed.neighbours.ready.set(two.id, 0);
  await apply(two, { hold: { ...HOLD, estimatedSeconds: null } });
  expect((await published()).hold).toEqual({ max_seconds: 90, estimated_seconds: null, since });
  const route = await bed.database.tx('system', (tx) => bed.routes.current(tx, deployment.id));
  expect(route?.hold?.heldSeconds).toBeGreaterThan(0);
  expect(route?.hold?.heldSeconds).toBeLessThan(60);
  await expect(apply(two)).rejects.toMatchObject({ code: 'revision_not_ready' });
});

it('a hold continues when the traffic is passed on, and ends with its owner in any case', async () => {
  await apply(one);
  await take('op_a');
  await apply(one, { hold: HOLD });
  await bed.database.tx('system', (tx) => bed.routes.passTraffic(tx, deployment.id, 'op_a', 'op_b'));
  const release = (id: string) => bed.database.tx('system', (tx) => bed.routes.releaseTraffic(tx, deployment.id, id));
  await release('op_a');
  expect((await published()).hold).not.toBeNull();
  await release('op_b');
  expect(await published()).toEqual({ generation: 3, hold: null });
  // There is nothing left to end.
  await take('op_c');
  await release('op_c');
  expect((await published()).generation).toBe(3);
});

it('a hold ends by itself if its operation is over or lost, and only then', async () => {
  await apply(one);
  const id = `op_held_${count}`;
  await operation(id, 'running');
  await take(id);
  await apply(one, { hold: HOLD });
  await bed.endForgottenHolds();
  expect((await published()).generation).toBe(2);
  await operation(id, 'failed');
  await bed.endForgottenHolds();
  expect(await published()).toEqual({ generation: 3, hold: null });
  await bed.endForgottenHolds();
  expect((await published()).generation).toBe(3);
});
