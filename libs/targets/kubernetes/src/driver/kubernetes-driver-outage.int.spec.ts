import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import { observeUntil } from '@slipway/target-driver/conformance';
import {
  ControlPlane,
  DEPLOYMENTS,
  isReady,
  NAMESPACES,
  PODS,
  programs,
  SwallowingProxy,
  TestBed,
} from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { BedBench } from '../../test/bed-bench.js';
import { until } from '../../test/driver-bench.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(240_000);
const WITHIN_MS = 90_000;
const AWAY_MS = 20_000;

let plane: ControlPlane;
let bed: TestBed;
let bench: BedBench;
let driver: KubernetesDriver;
beforeAll(async () => {
  if (!hasKube) return;
  // A compaction has its effect at once, and nodes survive an API server that is away.
  plane = await ControlPlane.start({ bin: programs(), watchCache: false, nodeGraceSeconds: 120 });
  bed = await TestBed.open({ access: plane.access, nodes: [{}] });
});
afterAll(async () => {
  await bed?.close();
  await plane?.stop();
});
beforeEach(async () => {
  if (!hasKube) return;
  bench = await BedBench.create(bed);
  bench.setHealthy(true);
});
afterEach(() => bench?.close());

const stateBecomes = (state: 'ok' | 'degraded', withinMs: number) =>
  until(
    () => driver.health(),
    (health) => health.state === state,
    withinMs,
  );

async function serving(instanceId: string) {
  const spec = bench.spec({ instanceId });
  await driver.provision(spec);
  return { spec, seen: await observeUntil(driver, spec, 'ready', WITHIN_MS) };
}

/** A driver whose connections use the proxy. */
function behind(proxy: SwallowingProxy): KubernetesDriver {
  const { kubeconfig } = bench.granted;
  const proxied = `${kubeconfig}.proxied`;
  writeFileSync(proxied, readFileSync(kubeconfig, 'utf8').replace(plane.access.server, proxy.server), { mode: 0o600 });
  return bench.driver({ cluster: { kubeconfig: proxied } }, { watch: { silenceMs: 3_000 } });
}

kubeIt(
  'a silent API server is reported within 15 s and changes nothing, and everything is fine within 5 s of its return',
  async () => {
    driver = bench.driver();
    const { spec, seen } = await serving('ins_0190c0de');
    plane.pause();
    try {
      await stateBecomes('degraded', 15_000);
      const end = Date.now() + AWAY_MS;
      while (Date.now() < end) {
        expect(await driver.observe(spec)).toEqual(seen);
        await new Promise((done) => setTimeout(done, 200));
      }
    } finally {
      plane.resume();
    }
    await stateBecomes('ok', 5_000);
    expect(await driver.observe(spec)).toEqual(seen);
  },
);

kubeIt('an API server that dies and returns with its objects changes nothing', async () => {
  driver = bench.driver();
  const { spec, seen } = await serving('ins_0190c0de');
  await plane.killApiServer();
  await stateBecomes('degraded', 15_000);
  expect(await driver.observe(spec)).toEqual(seen);
  await expect(driver.observe({ ...spec, instanceId: 'ins_unheard' })).rejects.toThrow('nothing listens');
  await plane.startApiServer();
  await stateBecomes('ok', 10_000);
  expect(await driver.observe(spec)).toEqual(seen);
  await serving('ins_0190cafe');
});

kubeIt('changes that happen and are compacted during an outage are observed after it', async () => {
  const proxy = await SwallowingProxy.start(plane.access.server);
  driver = behind(proxy);
  const [first, second] = [await serving('ins_0190c0de'), await serving('ins_0190cafe')];
  proxy.swallow();
  proxy.cut();
  const { namespace } = bench;
  const [pod] = await bed.pods(namespace, 'slipway.dev/instance=ins_0190c0de');
  const [unit] = (await bed.client.list(DEPLOYMENTS, { namespace, labelSelector: 'slipway.dev/instance=ins_0190cafe' }))
    .items;
  await bed.client.remove(PODS, { namespace, name: pod!.metadata.name! });
  await bed.client.remove(DEPLOYMENTS, { namespace, name: unit!.metadata.name! });
  await plane.compact();
  proxy.pass();
  await until(
    () => driver.observe(first.spec),
    ({ state, incarnation }) => state === 'ready' && incarnation !== first.seen.incarnation,
    30_000,
  );
  await until(
    () => driver.observe(second.spec).catch(() => ({ state: 'unknown' })),
    ({ state }) => state === 'absent',
    30_000,
  );
  await driver.close();
  await proxy.stop();
});

kubeIt('a connection that died silently is detected', async () => {
  const proxy = await SwallowingProxy.start(plane.access.server);
  driver = behind(proxy);
  const { spec, seen } = await serving('ins_0190c0de');
  proxy.swallow();
  const { namespace } = bench;
  const [pod] = await bed.pods(namespace);
  await bed.client.remove(PODS, { namespace, name: pod!.metadata.name! });
  await bed.pod(namespace, 'ready again', (one) => isReady(one) && one.metadata.uid !== pod!.metadata.uid);
  expect((await driver.observe(spec)).incarnation).toBe(seen.incarnation);
  // Only the connections from before stay dead.
  proxy.pass();
  await until(
    () => driver.observe(spec),
    ({ state, incarnation }) => state === 'ready' && incarnation !== seen.incarnation,
    30_000,
  );
  await driver.close();
  await proxy.stop();
});

kubeIt('an API server that has lost everything gets each unit again, once', async () => {
  driver = bench.driver({ cluster: { kubeconfig: plane.access.kubeconfig } });
  const { spec } = await serving('ins_0190c0de');
  await plane.restart('emptied');
  await bed.client.create(NAMESPACES, { metadata: { name: bench.namespace } });
  await until(
    () => driver.observe(spec).catch(() => ({ state: 'unknown' })),
    ({ state }) => state === 'absent',
    WITHIN_MS,
  );
  const next = { ...spec, generation: 2 };
  await Promise.all([driver.provision(next), driver.provision(next)]);
  const { items } = await bed.client.list(DEPLOYMENTS, { namespace: bench.namespace });
  expect(items.map(({ metadata }) => metadata.labels?.['slipway.dev/generation'])).toEqual(['2']);
});
