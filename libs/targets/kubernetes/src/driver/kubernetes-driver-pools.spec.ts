import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { DriverBench, engineConfig, instanceSpec, NAMESPACE, targetConfig, until } from '../../test/driver-bench.js';
import { DEPLOYMENTS, INFERENCE_POOLS, PDBS, SERVICES } from '../api/kinds.js';
import type { Deployment, InferencePool } from '../api/objects.js';
import type { KubernetesDriver } from './kubernetes-driver.js';
import type { InferencePoolConfig } from '../target-config.js';

const SOON = { revisions: { sweepMs: 50, paceMs: 0 }, health: { roundMs: 200 } };
const pooled = (picker: Partial<InferencePoolConfig['endpoint_picker']> = {}) => ({
  inference_pool: {
    endpoint_picker: { name: '{pool}-epp', port: 9_002, failure_mode: 'FailClose' as const, ...picker },
  },
});
const spec = instanceSpec();

let bench: DriverBench;
let driver: KubernetesDriver;
beforeEach(async () => {
  bench = await DriverBench.create();
  bench.cluster.isHealthy = true;
  driver = bench.driver(pooled(), SOON);
});
afterEach(() => bench.close());

const store = () => bench.cluster.api.store;
const pools = () => store().list<InferencePool>(INFERENCE_POOLS, NAMESPACE);
const asked = () => bench.cluster.api.requests.filter(({ plural }) => plural === INFERENCE_POOLS.plural);

async function serving(by = driver): Promise<void> {
  await by.provision(spec);
  await observeUntil(by, spec, 'ready');
}

/** Like the worker: observes each instance, and sometimes lists everything. */
const looking = <T>(is: () => T, by = driver): Promise<T> =>
  until(async () => {
    await by.list();
    await by.observe(spec);
    return is();
  }, Boolean);

it('a pool is created by an apply with the first unit, written once by all workers together, and removed with the last', async () => {
  await serving();
  await looking(() => pools().length === 1);
  expect(asked().find(({ verb }) => verb === 'apply')).toMatchObject({
    namespace: NAMESPACE,
    query: { fieldManager: 'slipway', force: 'true', fieldValidation: 'Strict' },
  });
  const { labels, name } = pools()[0]!.metadata;
  expect(labels).toMatchObject({ 'slipway.dev/revision': spec.owner!.revisionId });
  expect(pools()[0]!.spec?.endpointPickerRef?.name).toBe(`${name}-epp`);
  bench.cluster.api.forgetRequests();
  const next = bench.driver(pooled(), SOON);
  await looking(() => asked().some(({ verb }) => verb === 'watch'), next);
  // Once this is restored, the driver has checked all other objects.
  store().remove(INFERENCE_POOLS, NAMESPACE, name);
  await looking(() => pools().length === 1, next);
  const applied = bench.cluster.api.requests.filter(({ verb }) => verb === 'apply');
  expect(applied.map(({ plural }) => plural)).toEqual([INFERENCE_POOLS.plural]);
  await next.close();
  await terminateUntilGone(driver, spec.instanceId);
  store().remove(DEPLOYMENTS, NAMESPACE, store().list<Deployment>(DEPLOYMENTS, NAMESPACE)[0]!.metadata.name);
  await until(
    async () => {
      await driver.list();
      return [pools().length, store().list(SERVICES).length, store().list(PDBS).length];
    },
    (left) => left.every((count) => count === 0),
  );
});

it('a pool follows the file: another picker, none, and one again', async () => {
  await serving();
  await looking(() => pools().length === 1);
  // Another worker, which created none of the objects, has read the new file.
  const next = bench.driver(pooled({ name: 'epp', failure_mode: 'FailOpen' }), SOON);
  await looking(() => pools()[0]?.spec?.endpointPickerRef?.name === 'epp', next);
  expect(pools()[0]?.spec?.endpointPickerRef).toEqual({
    name: 'epp',
    port: { number: 9_002 },
    failureMode: 'FailOpen',
  });
  next.reconfigure(targetConfig())();
  await looking(() => pools().length === 0, next);
  expect([store().list(SERVICES).length, store().list(PDBS).length]).toEqual([1, 1]);
  next.reconfigure(targetConfig(pooled({ port: 9_003 })))();
  await looking(() => pools()[0]?.spec?.endpointPickerRef?.port?.number === 9_003, next);
});

it('a file without pools causes no request for them', async () => {
  const plain = bench.driver({}, SOON);
  bench.cluster.api.lacks(INFERENCE_POOLS);
  bench.cluster.api.forbid({ plural: INFERENCE_POOLS.plural });
  await serving(plain);
  await looking(() => store().list(PDBS, NAMESPACE).length === 1, plain);
  const reviews = () => bench.cluster.api.requests.filter(({ body }) => body?.kind === 'SelfSubjectRulesReview');
  await until(reviews, (all) => all.length > 2);
  expect(plain.health()).toEqual({ state: 'ok' });
  expect(bench.cluster.api.requests.filter(({ plural }) => ['types', INFERENCE_POOLS.plural].includes(plural))).toEqual(
    [],
  );
  expect(JSON.stringify(reviews())).not.toContain(INFERENCE_POOLS.plural);
});

it('a cluster without the type is reported, and has everything else', async () => {
  const installed = bench.cluster.api.lacks(INFERENCE_POOLS);
  await serving();
  const { message } = await until(
    () => driver.health(),
    ({ state }) => state === 'degraded',
  );
  expect(message).toContain('does not have the type inferencepools.inference.networking.k8s.io/v1. ');
  await looking(() => store().list(SERVICES).length + store().list(PDBS).length === 2);
  expect((await driver.observe(spec)).state).toBe('ready');
  installed();
  await until(
    () => driver.health(),
    ({ state }) => state === 'ok',
  );
  await looking(() => pools().length === 1);
});

it.each(['list', 'watch', 'create', 'patch', 'delete'] as const)(
  'the right to %s pools is named if it is missing',
  async (verb) => {
    bench.cluster.api.forbid({ verb, plural: INFERENCE_POOLS.plural });
    await driver.list();
    const { message } = await until(
      () => driver.health(),
      ({ state }) => state === 'degraded',
    );
    expect(message).toContain(
      `is not allowed to: ${verb} inferencepools.inference.networking.k8s.io in namespace ${NAMESPACE}. `,
    );
  },
);

it('a removed pool is created again, and has the port of the engine', async () => {
  driver = bench.driver({ ...pooled(), engines: { sim: engineConfig({ port: 28_735 }) } }, SOON);
  await serving();
  const pool = await looking(() => pools()[0]);
  expect(pool?.spec?.targetPorts).toEqual([{ number: 28_735 }]);
  store().remove(INFERENCE_POOLS, NAMESPACE, pool!.metadata.name);
  await looking(() => pools().length === 1);
});
