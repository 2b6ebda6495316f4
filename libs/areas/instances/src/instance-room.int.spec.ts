import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { ScalingSpec } from '@slipway/contracts';
import { newId } from '@slipway/platform-database';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import type { TakeOver } from '@slipway/ports/instances';
import { TargetBed, workloadOf, type Process } from '../test/target-bed.js';
import type { FakeDeployments } from '../test/worker-module.js';

/** How many instances a revision begins with. Nothing runs here: what is written is what counts. */
const PLACES = 10;
const QUOTA = 8;
let bed: TargetBed;
let api: Process;
let deployments: FakeDeployments;
let tenantId: string;

beforeAll(async () => {
  bed = await TargetBed.create(PLACES);
  api = await bed.process('api', { operator: { ...bed.config.operator, quotas: { instances: QUOTA } } });
  deployments = api.context.get<FakeDeployments>(DEPLOYMENTS);
});
afterAll(() => bed?.dispose());
beforeEach(async () => {
  tenantId = newId('ten');
  deployments.scaling.clear();
  await api.database.tx('system', (tx) => tx.query('delete from workloads'));
});

const SCALING = { min_replicas: 1, max_replicas: 4, target_in_flight: 2 };
const workload = (name: string, scaling: ScalingSpec, takesOver?: TakeOver) => ({
  ...workloadOf(`rev_${name}`, bed.spec({}, { scaling })),
  tenantId,
  takesOver,
});
const want = (name: string, scaling: ScalingSpec, takesOver?: TakeOver, operation = 'op_1') =>
  api.database.tx('system', (tx) =>
    api.instances.want(tx, workload(name, scaling, takesOver), `operation:${operation}`),
  );
const room = (name: string, scaling: ScalingSpec, takesOver?: TakeOver) =>
  api.database.tx({ tenantId }, (tx) => api.instances.room(tx, workload(name, scaling, takesOver)));
const replicas = async (name: string) =>
  (
    await api.database.read<{ replicas: number }>('system', 'select replicas from workloads where revision_id = $1', [
      `rev_${name}`,
    ])
  )[0]?.replicas;
/** One that the load has brought to so many. */
const serving = async (name: string, count: number) => {
  await want(name, { min_replicas: 1, max_replicas: 9, target_in_flight: 2 }, undefined, `op_${name}`);
  await api.database.read('system', 'update workloads set replicas = $2 where revision_id = $1 returning 1', [
    `rev_${name}`,
    count,
  ]);
};
const over = (...names: string[]): TakeOver => ({ revisionIds: names.map((name) => `rev_${name}`), areStopped: false });
/** What is counted ahead is what is then wanted. */
const begins = async (scaling: ScalingSpec, takesOver?: TakeOver) => {
  const { replicas: forecast, needed } = await room('next', scaling, takesOver);
  await want('next', scaling, takesOver);
  expect([forecast, needed]).toEqual([await replicas('next'), await replicas('next')]);
  return forecast;
};

it('begins with as many as the revision has whose traffic it takes over, up to its own most', async () => {
  await serving('old', 3);
  expect(await begins(SCALING, over('old'))).toBe(3);
});

it('begins with its own most where the one before it has more', async () => {
  await serving('old', 4);
  expect(await begins({ ...SCALING, max_replicas: 3 }, over('old'))).toBe(3);
});

it('begins with the larger number of several', async () => {
  await serving('old', 2);
  await serving('canary', 3);
  expect(await begins(SCALING, over('old', 'canary'))).toBe(3);
});

it('begins with what it asks for where it takes no traffic over, or takes it from nobody who runs', async () => {
  await serving('old', 4);
  expect(await begins(SCALING)).toBe(1);
  expect((await room('other', { ...SCALING, min_replicas: 2 }, over('nobody'))).replicas).toBe(2);
});

it('follows what the deployment overrides', async () => {
  await serving('old', 4);
  deployments.scaling.set('dep_1', { max_replicas: 2 });
  expect((await room('next', SCALING, over('old'))).replicas).toBe(2);
  deployments.scaling.set('dep_1', { min_replicas: 3 });
  expect(await begins(SCALING)).toBe(3);
});

it('begins with no more than the quota leaves, which only what it asks for itself can break', async () => {
  await serving('old', 5);
  const most = { ...SCALING, max_replicas: 9 };
  expect((await room('next', most, over('old'))).replicas).toBe(QUOTA - 5);
  expect(await begins(most, over('old'))).toBe(QUOTA - 5);
  await expect(want('more', SCALING, over('old'))).rejects.toMatchObject({ code: 'quota_exceeded' });
});

it('begins with no more than there are places, and with more where others are stopped first', async () => {
  const own = tenantId;
  tenantId = newId('ten');
  const stranger = { ...workload('stranger', { min_replicas: 4 }), deploymentId: 'dep_2' };
  await api.database.tx('system', (tx) => api.instances.want(tx, stranger, 'route'));
  tenantId = own;
  await serving('old', 4);
  const free = PLACES - 8;
  expect(await room('next', SCALING, over('old'))).toMatchObject({ replicas: free, needed: free, free, own: 4 });
  const stopped = { ...over('old'), areStopped: true };
  expect(await room('next', SCALING, stopped)).toMatchObject({ replicas: 4, needed: 4, free, own: 4 });
  await want('next', SCALING, stopped);
  expect(await replicas('next')).toBe(4);
});

it('keeps what is wanted of it already', async () => {
  await serving('old', 2);
  await serving('next', 4);
  expect(await begins(SCALING, over('old'))).toBe(4);
});
