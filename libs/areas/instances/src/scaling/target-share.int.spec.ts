import { afterEach, expect, it, jest } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { TargetBed, until, workloadOf, type InstancesProcess } from '../../test/target-bed.js';
import { TargetsService } from '../targets/targets.service.js';

jest.setTimeout(90_000);

const OTHER = 'ten_b';

let bed: TargetBed;
afterEach(() => bed?.dispose());

/** Wants a revision for the second tenant. */
const wantForOther = (host: InstancesProcess, revisionId: string, spec: RevisionSpec) =>
  host.database.tx('system', (tx) =>
    host.instances.want(
      tx,
      { ...workloadOf(revisionId, spec), tenantId: OTHER, deploymentId: 'dep_b' },
      'operation:op_1',
    ),
  );
const forecast = (host: InstancesProcess, replicas: number, deploymentId = 'dep_2') =>
  host.database.tx({ tenantId: 'ten_a' }, (tx) =>
    host.instances.forecastCapacity(tx, {
      tenantId: 'ten_a',
      deploymentId,
      spec: bed.spec({}, { scaling: { min_replicas: replicas } }),
    }),
  );
/** Waits for a revision of any tenant. */
const untilReady = (host: InstancesProcess, revisionId: string, count = 1) =>
  until(
    `${count} of ${revisionId} to be ready`,
    async () => (await statesOf(host, revisionId)).filter((state) => state === 'ready').length === count,
    () => host.rows(revisionId),
  );
const statesOf = async (host: InstancesProcess, revisionId: string) =>
  (await host.rows(revisionId)).map(({ state }) => state);

it('leaves the other half of the instances to other tenants, even if one tenant wants all', async () => {
  bed = await TargetBed.create(4, { share: 0.5 });
  const host = await bed.process('worker');
  await host.want('rev_1', bed.spec({}, { scaling: { min_replicas: 1 } }));
  await host.want('rev_2', bed.spec({}, { scaling: { min_replicas: 1 } }));
  await host.want('rev_3', bed.spec({}, { scaling: { min_replicas: 1 } }));
  await host.ready('rev_1');
  await host.ready('rev_2');
  const message =
    'waiting for capacity of the tenant on target local: it may use at most 2 instances of this shared target';
  await until(
    'the third to wait',
    async () => (await host.rows('rev_3'))[0]?.message === message,
    () => host.rows('rev_3'),
  );
  await wantForOther(host, 'rev_b', bed.spec({}, { scaling: { min_replicas: 2 } }));
  await untilReady(host, 'rev_b', 2);
  expect(await statesOf(host, 'rev_3')).toEqual(['pending']);

  const viewer = { tenantId: 'ten_a', tenantName: 'default', isOperatorTenant: true };
  const { data } = await host.context.get(TargetsService).list(viewer, { limit: 50 });
  expect(data.find(({ name }) => name === 'local')?.capacity).toMatchObject({ max_instances: 4, share: 2 });

  // The tenant can use again the part of its share that it gives up.
  await host.release('rev_1');
  await host.ready('rev_3');
});

it('stops what the same tenant keeps warm for an instance that waits for its share, and nothing of others', async () => {
  bed = await TargetBed.create(8, { share: 1 });
  const host = await bed.process('worker');
  await host.want('rev_1', bed.spec());
  await wantForOther(host, 'rev_b', bed.spec());
  await host.ready('rev_1');
  await untilReady(host, 'rev_b');
  for (const [tenantId, revision] of [
    ['ten_a', 'rev_1'],
    [OTHER, 'rev_b'],
  ] as const)
    await host.database.tx({ tenantId }, async (tx) => {
      await host.instances.retain(tx, revision, 'warm', 3_600);
      await host.instances.release(tx, revision, 'operation:op_1');
    });
  await host.want('rev_2', bed.spec());
  await host.ready('rev_2');
  await host.retired('rev_1');
  expect(await statesOf(host, 'rev_b')).toEqual(['ready']);
});

it('refuses at once what the share can never hold, and forecasts what it leaves', async () => {
  bed = await TargetBed.create(4, { share: 0.5 });
  const api = await bed.process('api');
  expect(await api.check(bed.spec({}, { scaling: { min_replicas: 3 } }))).toEqual([
    {
      field: 'scaling.min_replicas',
      code: 'not_allowed',
      message: 'the tenant may use at most 2 instances of target "local", which tenants share',
    },
  ]);
  expect(await forecast(api, 2)).toMatchObject({ needed: 2, total: 2, free: 2, own: 0, isShare: true });
  await api.want('rev_1', bed.spec());
  expect(await forecast(api, 2)).toMatchObject({ total: 2, free: 1, own: 0, isShare: true });
  expect(await forecast(api, 2, 'dep_1')).toMatchObject({ total: 2, free: 1, own: 1, isShare: true });
  // Other tenants use the target: the share leaves as much as the target does.
  await wantForOther(api, 'rev_b', bed.spec({}, { scaling: { min_replicas: 2 } }));
  const full = await forecast(api, 1);
  expect(full).toMatchObject({ total: 4, free: 1 });
  expect(full.isShare).toBeUndefined();
});

it('holds for the devices of a host', async () => {
  const devices = [0, 1, 2, 3].map((index) => ({ index, memory_mb: 10_000 }));
  bed = await TargetBed.create(8, { devices, share: 0.5 });
  const host = await bed.deviceHost();
  for (const model of ['one', 'two', 'theirs']) await bed.makeReady(model);
  await host.want('rev_1', bed.gpuSpec('one', 'gpu'));
  await host.ready('rev_1');
  await host.want('rev_2', bed.gpuSpec('two', 'gpu', { count: 2 }));
  await host.waitsForDevice('rev_2', 'it may use at most 2 devices of this shared target');
  await wantForOther(host, 'rev_b', bed.gpuSpec('theirs', 'gpu', { count: 2 }));
  await untilReady(host, 'rev_b');
  await host.release('rev_1');
  await host.ready('rev_2');
});
