import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { DriverBench, instanceSpec, NAMESPACE, until } from '../../test/driver-bench.js';
import { DEPLOYMENTS, PODS, SERVICES } from '../api/kinds.js';
import type { Deployment, Pod } from '../api/objects.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

/** The file names another namespace than the one where the units were made. */
const OTHER = 'models-new';
const MOVED = { namespaces: { default: OTHER, by_tenant: {} } };

let bench: DriverBench;
let driver: KubernetesDriver;
beforeEach(async () => {
  bench = await DriverBench.create();
  bench.cluster.isHealthy = true;
  driver = bench.driver();
});
afterEach(() => bench.close());

const store = () => bench.cluster.api.store;
const units = (namespace = NAMESPACE) => store().list<Deployment>(DEPLOYMENTS, namespace);
const madeBy = (by: KubernetesDriver, spec = instanceSpec()) => [by.locationOf(spec)];
const watchesOf = (namespace: string) =>
  bench.cluster.api.requests.filter((one) => one.verb === 'watch' && one.namespace === namespace).length;

/** An instance that runs where the previous file placed it. */
async function made(spec = instanceSpec()): Promise<InstanceSpec> {
  const stored = { ...spec, madeAt: madeBy(driver, spec) };
  await driver.provision(stored);
  await observeUntil(driver, stored, 'ready');
  return stored;
}

it('a location names the cluster and the namespace of the tenant', () => {
  const config = { namespaces: { default: NAMESPACE, by_tenant: { acme: 'acme-models' } } };
  expect(bench.driver(config).locationOf(instanceSpec())).toEqual({
    kind: 'kubernetes',
    server: bench.cluster.api.cluster().server,
    namespace: 'acme-models',
  });
});

describe.each([
  ['by a driver that is started with the new file', (change: object) => bench.driver(change)],
  [
    'by the driver that got the new file while it ran',
    (change: object) => {
      driver.reconfigure({ ...bench.config(), ...change })();
      return driver;
    },
  ],
])('a unit in a namespace that the file no longer names, %s', (_by, withFile) => {
  it('is seen ready, listed, and stopped until it is gone', async () => {
    const spec = await made();
    const next = withFile(MOVED);
    expect((await observeUntil(next, spec, 'ready')).generation).toBe(1);
    expect(await next.list(spec.madeAt)).toMatchObject([{ instanceId: spec.instanceId }]);
    expect(await next.terminate(spec.instanceId, spec.madeAt)).toBe('stopping');
    await terminateUntilGone(next, spec.instanceId);
    expect(units()[0]?.spec?.replicas).toBe(0);
    expect(store().list(PODS, NAMESPACE)).toEqual([]);
  });

  it('ends before its next generation starts in the new namespace', async () => {
    const spec = await made();
    const next = withFile(MOVED);
    const second = { ...spec, generation: 2, madeAt: [...spec.madeAt!, ...madeBy(next)] };
    await next.provision(second);
    expect(units(OTHER)).toEqual([]);
    await until(
      async () => {
        await next.provision(second);
        return units(OTHER);
      },
      (found) => found.length === 1,
    );
    expect(store().list(PODS, NAMESPACE)).toEqual([]);
    expect((await observeUntil(next, second, 'ready')).generation).toBe(2);
  });
});

it('a tenant that moves to another namespace is found in the earlier one', async () => {
  const spec = await made();
  const moved = bench.driver({ namespaces: { default: NAMESPACE, by_tenant: { acme: OTHER } } });
  expect((await observeUntil(moved, spec, 'ready')).generation).toBe(1);
});

it('two targets that have swapped their namespaces each keep and stop their own units', async () => {
  const other = bench.driver({ name: 'other', ...MOVED });
  const [own, theirs] = [instanceSpec({ instanceId: 'ins_aaaa1111' }), instanceSpec({ instanceId: 'ins_bbbb2222' })];
  const [mine, their] = [
    { ...own, madeAt: madeBy(driver) },
    { ...theirs, madeAt: madeBy(other) },
  ];
  await driver.provision(mine);
  await other.provision(their);
  const swapped = [bench.driver(MOVED), bench.driver({ name: 'other' })] as const;
  for (const [by, spec, foreign] of [
    [swapped[0], mine, their],
    [swapped[1], their, mine],
  ] as const) {
    await observeUntil(by, spec, 'ready');
    expect(await by.list(spec.madeAt)).toMatchObject([{ instanceId: spec.instanceId }]);
    expect(await by.unknownUnits(new Set(['kube', 'other']))).toEqual([]);
    expect(await by.terminate(foreign.instanceId)).toBe('gone');
    await by.terminate(spec.instanceId, spec.madeAt);
    await terminateUntilGone(by, spec.instanceId);
  }
  expect([...store().list(PODS, NAMESPACE), ...store().list(PODS, OTHER)]).toEqual([]);
});

it('an empty former namespace, as after it was deleted and made again, proves that the unit has ended', async () => {
  const spec = await made();
  bench.cluster.api.wipe();
  const moved = bench.driver(MOVED);
  expect(await moved.terminate(spec.instanceId, spec.madeAt)).toBe('gone');
});

it('nothing is made in a location that the caller has not stored', async () => {
  const spec = { ...instanceSpec(), madeAt: madeBy(driver) };
  const moved = bench.driver(MOVED);
  await expect(moved.provision(spec)).rejects.toMatchObject({ reason: 'target_unavailable' });
  expect([...units(), ...units(OTHER)]).toEqual([]);
});

it('a former namespace that cannot be read proves no absence and no end', async () => {
  const spec = await made();
  bench.cluster.api.odd({ namespace: NAMESPACE }, { status: 403 });
  const moved = bench.driver(MOVED, { syncMs: 200 });
  await expect(moved.observe(spec)).rejects.toThrow();
  await expect(moved.terminate(spec.instanceId, spec.madeAt)).rejects.toThrow('403');
  expect(store().list(PODS, NAMESPACE)).toHaveLength(1);
});

it('a former namespace is watched until nothing is left in it', async () => {
  const spec = await made();
  const moved = bench.driver({ ...MOVED, retain_seconds: 60 });
  await observeUntil(moved, spec, 'ready');
  await moved.terminate(spec.instanceId, spec.madeAt);
  await until(
    () => moved.terminate(spec.instanceId, spec.madeAt),
    (state) => state === 'gone',
  );
  const { name } = units()[0]!.metadata;
  store().change<Deployment>(DEPLOYMENTS, NAMESPACE, name, ({ metadata }) => {
    metadata.annotations = { 'slipway.dev/stopped-at': new Date(Date.now() - 61_000).toISOString() };
  });
  // Its mark is removed there too.
  await until(
    async () => {
      await moved.list(spec.madeAt);
      return units();
    },
    (left) => left.length === 0,
  );
  await until(
    async () => {
      await moved.list(spec.madeAt);
      bench.cluster.api.failWatches();
      bench.cluster.api.forgetRequests();
      await new Promise((done) => setTimeout(done, 300));
      return watchesOf(NAMESPACE);
    },
    (count) => count === 0,
  );
});

it('shared objects of a revision stay in the namespace of its unit', async () => {
  const spec = await made();
  const moved = bench.driver(MOVED);
  await observeUntil(moved, spec, 'ready');
  // The first observation begins to watch them, and one after their list writes what is missing.
  await until(
    async () => {
      await moved.observe(spec);
      return store().list(SERVICES, NAMESPACE);
    },
    (found) => found.length === 1,
  );
  await moved.observe(spec);
  expect(store().list(SERVICES, OTHER)).toEqual([]);
});

describe('another cluster under the same name of a target', () => {
  const elsewhere = (spec: InstanceSpec) => ({
    ...spec,
    madeAt: [{ kind: 'kubernetes', server: 'https://10.0.0.1:6443', namespace: NAMESPACE }],
  });

  it('is reported before anything starts, and nothing there counts as absent or gone', async () => {
    const spec = elsewhere(instanceSpec());
    expect(driver.unreachable('ins_1', spec.madeAt)).toMatch(/made in the cluster https:\/\/10.0.0.1:6443/);
    expect(driver.unreachable('ins_1', madeBy(driver))).toBeUndefined();
    await expect(driver.observe(spec)).rejects.toThrow('https://10.0.0.1:6443');
    await expect(driver.terminate(spec.instanceId, spec.madeAt)).rejects.toThrow('https://10.0.0.1:6443');
    await expect(driver.provision(spec)).rejects.toThrow('https://10.0.0.1:6443');
    expect(units()).toEqual([]);
  });
});

describe('units without an owner', () => {
  const known = new Set(['kube']);

  it('are those of another target name of this installation, with the command that removes all their objects', async () => {
    const renamed = bench.driver({ name: 'gpu-old' });
    const spec = instanceSpec({ instanceId: 'ins_aaaa1111' });
    await renamed.provision(spec);
    await observeUntil(renamed, spec, 'ready');
    const found = await until(
      () => driver.unknownUnits(known),
      ([one]) => one?.running === 1,
    );
    expect(found).toEqual([
      {
        target: 'gpu-old',
        location: `namespace ${NAMESPACE}`,
        count: 1,
        running: 1,
        names: [units()[0]!.metadata.name],
        command: `kubectl -n ${NAMESPACE} delete deployments,pods,services,poddisruptionbudgets,secrets -l app.kubernetes.io/managed-by=slipway,slipway.dev/installation=0f6f7f0e-7a3c-4a58-9d58-2f3f9c8f0a11,slipway.dev/target=gpu-old`,
      },
    ]);
    expect(await driver.list()).toEqual([]);
    expect(await driver.unknownUnits(new Set(['kube', 'gpu-old']))).toEqual([]);
  });

  it('are not those of another installation, and cost no request', async () => {
    const other = bench.driver({ name: 'gpu-old' }, {}, '7a0ef0a4-1111-4222-8333-444455556666');
    await other.provision(instanceSpec());
    await observeUntil(other, instanceSpec(), 'ready');
    await driver.list();
    bench.cluster.api.forgetRequests();
    expect(await driver.unknownUnits(known)).toEqual([]);
    expect(bench.cluster.api.requests.filter(({ verb }) => verb === 'list')).toEqual([]);
  });

  it('are also those whose labels lead to no instance', async () => {
    const spec = await made();
    const { name } = units()[0]!.metadata;
    store().change<Deployment>(DEPLOYMENTS, NAMESPACE, name, ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'slipway.dev/instance-id': 'ins_another' };
    });
    const found = await until(
      () => driver.unknownUnits(known),
      ({ length }) => length === 1,
    );
    expect(found).toMatchObject([{ target: 'kube', command: `kubectl -n ${NAMESPACE} delete deployments/${name}` }]);
    expect(spec.instanceId).toBe('ins_0190c0de');
  });

  it('an object that loses the label of its target is no longer one of it', async () => {
    const spec = await made();
    const { name } = units()[0]!.metadata;
    store().change<Deployment>(DEPLOYMENTS, NAMESPACE, name, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'slipway.dev/target': 'gpu-old' };
    });
    await until(
      () => driver.unknownUnits(known),
      ([one]) => one?.target === 'gpu-old',
    );
    expect(store().list<Pod>(PODS, NAMESPACE)).toHaveLength(1);
    expect(await driver.list()).toMatchObject([{ instanceId: spec.instanceId }]);
  });
});
