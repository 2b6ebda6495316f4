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

/** As the worker does it: looks at each instance, and now and then at all there is. */
const looking = <T>(is: () => T, by = driver): Promise<T> =>
  until(async () => {
    await by.list();
    await by.observe(spec);
    return is();
  }, Boolean);

it('comes with the first unit, by an apply, is written once by however many workers, and goes with the last', async () => {
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
  // It has looked at all when it puts this right.
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

it('follows the file: another picker, none, and one again', async () => {
  await serving();
  await looking(() => pools().length === 1);
  // Another worker, which made none of it, has read the new file.
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

it('nothing of it is asked for where the file has no word of it', async () => {
  const plain = bench.driver({}, SOON);
  bench.cluster.api.lacks(INFERENCE_POOLS);
  bench.cluster.api.forbid({ plural: INFERENCE_POOLS.plural });
  await serving(plain);
  await looking(() => store().list(PDBS, NAMESPACE).length === 1, plain);
  const reviews = () => bench.cluster.api.requests.filter(({ body }) => body?.kind === 'SelfSubjectAccessReview');
  await until(reviews, (all) => all.length > 20);
  expect(plain.health()).toEqual({ state: 'ok' });
  expect(bench.cluster.api.requests.filter(({ plural }) => ['types', INFERENCE_POOLS.plural].includes(plural))).toEqual(
    [],
  );
  expect(JSON.stringify(reviews())).not.toContain(INFERENCE_POOLS.plural);
});

it('a cluster that does not know the type is told of, and has everything else', async () => {
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
  'the right to %s them is named where it is missing',
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

it('one that somebody removes comes back, and the port is that of the engine', async () => {
  driver = bench.driver({ ...pooled(), engines: { sim: engineConfig({ port: 28_735 }) } }, SOON);
  await serving();
  const pool = await looking(() => pools()[0]);
  expect(pool?.spec?.targetPorts).toEqual([{ number: 28_735 }]);
  store().remove(INFERENCE_POOLS, NAMESPACE, pool!.metadata.name);
  await looking(() => pools().length === 1);
});
