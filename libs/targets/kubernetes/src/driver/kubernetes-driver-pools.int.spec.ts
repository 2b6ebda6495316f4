import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import {
  addType,
  ControlPlane,
  findPrograms,
  INFERENCE_POOL_TYPE,
  INFERENCE_POOLS,
  SERVICES,
  TestBed,
  workerRules,
  type KubeObject,
} from '@slipway/kube-testbed';
import { kubeItWith } from '@slipway/kube-testbed/jest';
import { observeUntil } from '@slipway/target-driver/conformance';
import { BedBench } from '../../test/bed-bench.js';
import { targetConfig, until } from '../../test/driver-bench.js';
import { KubeApi } from '../api/requests.js';
import type { KubernetesDriver } from './kubernetes-driver.js';
import type { KubernetesTargetConfig } from '../target-config.js';

jest.setTimeout(240_000);
const WITHIN_MS = 90_000;
const RULES = workerRules({ usesInferencePools: true });
const SOON = { revisions: { sweepMs: 200, paceMs: 0 }, health: { roundMs: 1_000 } };
const PICKER = { name: '{pool}-epp', port: 9_002, failure_mode: 'FailClose' as const };

const { bin } = findPrograms(undefined, [INFERENCE_POOL_TYPE]);
const it = kubeItWith(INFERENCE_POOL_TYPE);

let plane: ControlPlane;
let bed: TestBed;
let bench: BedBench;
beforeAll(async () => {
  if (bin === undefined) return;
  plane = await ControlPlane.start({ bin });
  bed = await TestBed.open({ access: plane.access, nodes: [{}] });
});
afterAll(async () => {
  await bed?.close();
  await plane?.stop();
});
beforeEach(async () => {
  if (bin === undefined) return;
  bench = await BedBench.create(bed, {}, RULES);
  bench.setHealthy(true);
});
afterEach(() => bench?.close());

/** One test needs a cluster without the type, and runs first. */
let added: Promise<void> | undefined;
const withType = (): Promise<void> => (added ??= addType(plane.access, INFERENCE_POOL_TYPE));
const pooled = (more: Partial<KubernetesTargetConfig> = {}) => ({
  inference_pool: { endpoint_picker: PICKER },
  ...more,
});
const pools = async () => (await bed.client.list(INFERENCE_POOLS, { namespace: bench.namespace })).items;

async function serving(driver: KubernetesDriver) {
  await driver.provision(bench.spec());
  await observeUntil(driver, bench.spec(), 'ready', WITHIN_MS);
}

/** Like the worker: observes the instance, and sometimes lists everything. */
const looking = <T>(driver: KubernetesDriver, is: () => Promise<T>): Promise<T> =>
  until(
    async () => {
      await driver.list();
      await driver.observe(bench.spec());
      return is();
    },
    Boolean,
    WITHIN_MS,
  );
const becomes = (driver: KubernetesDriver, wanted: string) =>
  until(
    () => driver.health(),
    ({ state }) => state === wanted,
    20_000,
  );

it('a cluster without the type is reported and serves; with the type, a revision has a pool of its own pods', async () => {
  const driver = bench.driver(pooled(), SOON);
  await serving(driver);
  const { message } = await becomes(driver, 'degraded');
  expect(message).toContain('does not have the type inferencepools.inference.networking.k8s.io/v1. ');
  expect((await driver.observe(bench.spec())).state).toBe('ready');
  await looking(
    driver,
    async () => (await bed.client.list(SERVICES, { namespace: bench.namespace })).items.length === 1,
  );
  await withType();
  await becomes(driver, 'ok');
  const { metadata, spec } = await looking(driver, async () => (await pools())[0] as KubeObject);
  const { matchLabels } = spec.selector;
  const other = bench.spec({ instanceId: 'ins_0190cafe', owner: { ...bench.spec().owner!, revisionId: 'rev_chat2' } });
  await driver.provision(other);
  await observeUntil(driver, other, 'ready', WITHIN_MS);
  const selector = Object.entries(matchLabels).map(([key, value]) => `${key}=${String(value)}`);
  const behind = await bed.pods(bench.namespace, selector.join(','));
  expect(behind.map((pod) => pod.metadata.labels?.['slipway.dev/instance'])).toEqual([bench.spec().instanceId]);
  const { containerPort } = behind[0]!.spec.containers[0]!.ports![0]!;
  expect(spec).toMatchObject({
    targetPorts: [{ number: containerPort }],
    endpointPickerRef: {
      kind: 'Service',
      name: `${metadata.name}-epp`,
      port: { number: 9_002 },
      failureMode: 'FailClose',
    },
  });
});

it('a pool that others edit or remove is restored, and one that the file no longer wants is removed', async () => {
  await withType();
  const driver = bench.driver(pooled(), SOON);
  await serving(driver);
  const { metadata } = await looking(driver, async () => (await pools())[0] as KubeObject);
  const where = { namespace: bench.namespace, name: metadata.name };
  const pickerPort = async () => (await pools())[0]?.['spec'].endpointPickerRef.port.number as number | undefined;
  await bed.client.merge(INFERENCE_POOLS, where, { spec: { endpointPickerRef: { port: { number: 1 } } } });
  await looking(driver, async () => (await pickerPort()) === 9_002);
  await bed.client.remove(INFERENCE_POOLS, where);
  await looking(driver, async () => (await pickerPort()) === 9_002);
  const { cluster, namespaces, engines } = (driver as unknown as { config: KubernetesTargetConfig }).config;
  driver.reconfigure(targetConfig({ cluster, namespaces, engines }))();
  await looking(driver, async () => (await pools()).length === 0);
  expect((await bed.client.list(SERVICES, { namespace: bench.namespace })).items).toHaveLength(1);
});

it('a newly started worker finds everything in its desired state, and writes nothing', async () => {
  await withType();
  const asked = pooled({ reach: 'service' });
  const first = bench.driver(asked, SOON);
  await serving(first);
  await looking(first, async () => (await pools()).length === 1);
  await first.close();
  const applied = jest.spyOn(KubeApi.prototype, 'apply');
  const next = bench.driver(asked, SOON);
  await looking(next, async () => next.health().state === 'ok');
  // Once this is restored, the worker has checked all other objects.
  const [pool] = await pools();
  await bed.client.remove(INFERENCE_POOLS, { namespace: bench.namespace, name: pool!.metadata.name! });
  await looking(next, async () => (await pools()).length === 1);
  const again = applied.mock.calls.map(([{ plural }]) => plural);
  applied.mockRestore();
  expect(again).toEqual([INFERENCE_POOLS.plural]);
});

it('each missing right for pools is named, and no longer named when it is granted again', async () => {
  await withType();
  const driver = bench.driver(pooled(), SOON);
  await serving(driver);
  const tried = RULES.filter(({ resources }) => resources.includes(INFERENCE_POOLS.plural));
  const named: string[] = [];
  for await (const { right, message } of bench.withoutEach(driver, RULES, tried)) {
    expect(message).toContain(`is not allowed to: ${right}`);
    expect((await driver.observe(bench.spec())).state).toBe('ready');
    named.push(right);
  }
  expect(named).toEqual(['list', 'watch', 'create', 'patch', 'delete'].map((verb) => `${verb} inferencepools`));
});
