import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RevisionSpec, ScalingSpec } from '@slipway/contracts';
import { newId } from '@slipway/platform-database';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import type { Takeover } from '@slipway/ports/instances';
import { TargetBed, workloadOf, type InstancesProcess } from '../../test/target-bed.js';
import type { FakeDeployments } from '../../test/worker-module.js';

describe('the initial number of instances of a revision', () => {
  /** No instance runs here: only the stored numbers count. */
  const MAX_INSTANCES = 10;
  const QUOTA = 8;
  let bed: TargetBed;
  let api: InstancesProcess;
  let deployments: FakeDeployments;
  let tenantId: string;

  beforeAll(async () => {
    bed = await TargetBed.create(MAX_INSTANCES);
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
  const workload = (name: string, scaling: ScalingSpec, takesOver?: Takeover) => ({
    ...workloadOf(`rev_${name}`, bed.spec({}, { scaling })),
    tenantId,
    takesOver,
  });
  const want = (name: string, scaling: ScalingSpec, takesOver?: Takeover, operation = 'op_1') =>
    api.database.tx('system', (tx) =>
      api.instances.want(tx, workload(name, scaling, takesOver), `operation:${operation}`),
    );
  const forecast = (name: string, scaling: ScalingSpec, takesOver?: Takeover) =>
    api.database.tx({ tenantId }, (tx) => api.instances.forecastCapacity(tx, workload(name, scaling, takesOver)));
  const replicas = async (name: string) =>
    (
      await api.database.read<{ replicas: number }>('system', 'select replicas from workloads where revision_id = $1', [
        `rev_${name}`,
      ])
    )[0]?.replicas;
  /** Stores a revision that the load has brought to this many instances. */
  const serving = async (name: string, count: number) => {
    await want(name, { min_replicas: 1, max_replicas: 9, target_in_flight: 2 }, undefined, `op_${name}`);
    await api.database.read('system', 'update workloads set replicas = $2 where revision_id = $1 returning 1', [
      `rev_${name}`,
      count,
    ]);
  };
  const over = (...names: string[]): Takeover => ({
    revisionIds: names.map((name) => `rev_${name}`),
    areStopped: false,
  });
  /** Checks that the forecast equals the number that is then wanted. */
  const begins = async (scaling: ScalingSpec, takesOver?: Takeover) => {
    const { replicas: forecasted, needed } = await forecast('next', scaling, takesOver);
    await want('next', scaling, takesOver);
    expect([forecasted, needed]).toEqual([await replicas('next'), await replicas('next')]);
    return forecasted;
  };

  it('equals that of the revision whose traffic it takes over, up to its own maximum', async () => {
    await serving('old', 3);
    expect(await begins(SCALING, over('old'))).toBe(3);
  });

  it('is its own maximum if the revision before it has more', async () => {
    await serving('old', 4);
    expect(await begins({ ...SCALING, max_replicas: 3 }, over('old'))).toBe(3);
  });

  it('is the largest of those of several revisions', async () => {
    await serving('old', 2);
    await serving('canary', 3);
    expect(await begins(SCALING, over('old', 'canary'))).toBe(3);
  });

  it('is its own minimum if it takes over no traffic, or takes it from a revision that does not run', async () => {
    await serving('old', 4);
    expect(await begins(SCALING)).toBe(1);
    expect((await forecast('other', { ...SCALING, min_replicas: 2 }, over('nobody'))).replicas).toBe(2);
  });

  it('follows the overrides of the deployment', async () => {
    await serving('old', 4);
    deployments.scaling.set('dep_1', { max_replicas: 2 });
    expect((await forecast('next', SCALING, over('old'))).replicas).toBe(2);
    deployments.scaling.set('dep_1', { min_replicas: 3 });
    expect(await begins(SCALING)).toBe(3);
  });

  it("is at most what the quota leaves, which only the revision's own minimum can exceed", async () => {
    await serving('old', 5);
    const most = { ...SCALING, max_replicas: 9 };
    expect((await forecast('next', most, over('old'))).replicas).toBe(QUOTA - 5);
    expect(await begins(most, over('old'))).toBe(QUOTA - 5);
    await expect(want('more', SCALING, over('old'))).rejects.toMatchObject({ code: 'quota_exceeded' });
  });

  it('is at most the free capacity, and more if others are stopped first', async () => {
    const own = tenantId;
    tenantId = newId('ten');
    const stranger = { ...workload('stranger', { min_replicas: 4 }), deploymentId: 'dep_2' };
    await api.database.tx('system', (tx) => api.instances.want(tx, stranger, 'route'));
    tenantId = own;
    await serving('old', 4);
    const free = MAX_INSTANCES - 8;
    expect(await forecast('next', SCALING, over('old'))).toMatchObject({ replicas: free, needed: free, free, own: 4 });
    const stopped = { ...over('old'), areStopped: true };
    expect(await forecast('next', SCALING, stopped)).toMatchObject({ replicas: 4, needed: 4, free, own: 4 });
    await want('next', SCALING, stopped);
    expect(await replicas('next')).toBe(4);
  });

  it('includes the instances that are already wanted', async () => {
    await serving('old', 2);
    await serving('next', 4);
    expect(await begins(SCALING, over('old'))).toBe(4);
  });
});

describe('the quota of a tenant', () => {
  const LIMIT = 5;
  let bed: TargetBed;
  let api: InstancesProcess;
  let tenantId: string;

  beforeAll(async () => {
    bed = await TargetBed.create(1_000, { withTwin: true });
    api = await bed.process('api', { operator: { ...bed.config.operator, quotas: { instances: LIMIT } } });
  });
  afterAll(() => bed?.dispose());
  beforeEach(() => {
    tenantId = newId('ten');
  });

  const of = (replicas: number): RevisionSpec => bed.spec({}, { scaling: { min_replicas: replicas } });
  const want = (revision: string, spec: RevisionSpec) =>
    api.database.tx('system', (tx) =>
      api.instances.want(tx, { ...workloadOf(`${revision}_${tenantId}`, spec), tenantId }, 'operation:op_1'),
    );
  const inTenant = <T>(work: (tx: Parameters<typeof api.instances.retain>[0]) => Promise<T>): Promise<T> =>
    api.database.tx({ tenantId }, work);
  const counts = () =>
    inTenant(async (tx) => [
      (await api.instances.forecastCapacity(tx, { tenantId, deploymentId: 'dep_1', spec: of(1) })).wanted,
      await api.instances.needed(tx, tenantId),
    ]);
  const refusal = {
    code: 'quota_exceeded',
    options: { retryable: true, evidence: { quota: 'instances', limit: LIMIT } },
  };

  it('a tenant gets as many instances as its quota allows, on all targets, and capacity again after a release', async () => {
    await want('rev_1', of(2));
    await want('rev_2', { ...bed.twinSpec(), scaling: { min_replicas: 3 } });
    await expect(want('rev_3', of(1))).rejects.toMatchObject(refusal);
    expect(await counts()).toEqual([5, 5]);
    // Instances that are already wanted do not count again, and other tenants have their own quota.
    await want('rev_1', of(2));
    const mine = tenantId;
    tenantId = newId('ten');
    await want('rev_1', of(5));
    tenantId = mine;

    await inTenant((tx) => api.instances.release(tx, `rev_1_${tenantId}`, 'operation:op_1'));
    // It may still run, but it is not needed.
    expect(await counts()).toEqual([5, 3]);
    await want('rev_3', of(2));
    await expect(want('rev_4', of(1))).rejects.toMatchObject(refusal);
  });

  it('instances that are only kept warm are stopped before a quota refuses', async () => {
    await want('rev_1', of(3));
    await want('rev_2', of(2));
    await inTenant(async (tx) => {
      await api.instances.retain(tx, `rev_1_${tenantId}`, 'warm', 3_600);
      await api.instances.release(tx, `rev_1_${tenantId}`, 'operation:op_1');
    });
    expect(await counts()).toEqual([5, 2]);
    expect(await inTenant((tx) => api.instances.needed(tx, tenantId, `rev_2_${tenantId}`))).toBe(0);
    await expect(want('rev_3', of(4))).rejects.toMatchObject(refusal);
    const status = () => inTenant((tx) => api.instances.status(tx, `rev_1_${tenantId}`));
    expect((await status())?.desired).toBe(3);
    await want('rev_3', of(3));
    expect((await status())?.desired).toBe(0);
    expect(await counts()).toEqual([8, 5]);
  });

  it('of thirty concurrent requests, on two targets, exactly as many are granted as the quota allows', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, n) => want(`rev_${n}`, n % 2 === 0 ? of(1) : bed.twinSpec())),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
    expect(await counts()).toEqual([LIMIT, LIMIT]);
  });

  it('an adopted server counts once, whatever the scaling requests', async () => {
    const replicas = (spec: RevisionSpec) =>
      inTenant(
        async (tx) => (await api.instances.forecastCapacity(tx, { tenantId, deploymentId: 'dep_1', spec })).replicas,
      );
    expect(await replicas(of(3))).toBe(3);
    expect(await replicas({ ...of(3), runtime: { target: 'adopted', args: {}, env: {} } })).toBe(1);
    expect(await replicas({ ...of(3), runtime: { target: 'gone', args: {}, env: {} } })).toBe(0);
  });

  it('at its quota, a tenant loses its warm instances, the longest warm first', async () => {
    for (const revision of ['rev_1', 'rev_2', 'rev_3']) await want(revision, of(1));
    await want('rev_4', of(2));
    // Kept warm for longest, but also needed.
    for (const revision of ['rev_1', 'rev_3', 'rev_2'])
      await inTenant((tx) => api.instances.retain(tx, `${revision}_${tenantId}`, 'warm', 3_600));
    for (const revision of ['rev_3', 'rev_2'])
      await inTenant((tx) => api.instances.release(tx, `${revision}_${tenantId}`, 'operation:op_1'));
    await want('rev_5', of(1));
    const desired = (revision: string) =>
      inTenant(async (tx) => (await api.instances.status(tx, `${revision}_${tenantId}`))?.desired);
    expect([await desired('rev_1'), await desired('rev_3'), await desired('rev_2')]).toEqual([1, 0, 1]);
  });
});
