import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { DriverBench, INSTALLATION, instanceSpec, NAMESPACE, targetConfig, until } from '../../test/driver-bench.js';
import { engine, ready } from '../../test/pod-rows.js';
import { deploymentOf } from '../../test/target-fixture.js';
import { DEPLOYMENTS, PODS } from '../api/kinds.js';
import type { Deployment, Pod } from '../api/objects.js';

const INSTANCES = 1_000;

let bench: DriverBench;
beforeEach(async () => {
  bench = await DriverBench.create();
  // The test writes all objects itself, so the simulated controllers must make none.
  bench.cluster.refusal = 'no more pods';
});
afterEach(async () => {
  await bench.close();
});

function filled(): InstanceSpec[] {
  const { store } = bench.cluster.api;
  return Array.from({ length: INSTANCES }, (_, number) => {
    const owner = { ...instanceSpec().owner!, revisionId: `rev_${number >> 1}`, revisionName: `chat-${number >> 1}` };
    const spec = instanceSpec({ instanceId: `ins_${String(number).padStart(8, '0')}`, owner });
    const unit = deploymentOf(spec, targetConfig(), { installation: INSTALLATION });
    const { metadata, spec: pod } = unit.spec!.template!;
    const running: Pod = {
      metadata: { ...metadata, name: `pod-${number}`, namespace: NAMESPACE },
      spec: { ...pod, nodeName: 'node-1' },
      status: {
        phase: 'Running',
        podIP: `10.0.${number >> 8}.${number & 255}`,
        conditions: ready,
        ...engine({ started: true }),
      },
    };
    // No other client has changed them, as in most clusters.
    store.put(PODS, running, 'slipway');
    store.put<Deployment>(DEPLOYMENTS, { ...unit, metadata: { ...unit.metadata, namespace: NAMESPACE } }, 'slipway');
    return spec;
  });
}

it(`${INSTANCES} instances need one list and one watch of each kind, and observing them needs no request`, async () => {
  const specs = filled();
  const driver = bench.driver();
  const told = new Set<string>();
  driver.onChange((instanceId) => told.add(instanceId));
  expect(await driver.list()).toHaveLength(INSTANCES);
  expect(told.size).toBe(INSTANCES);
  const all = async () => (await Promise.all(specs.map((spec) => driver.observe(spec)))).map(({ state }) => state);
  expect(new Set(await all())).toEqual(new Set(['ready']));
  const asked = (verb: string) =>
    bench.cluster.api.requests.filter((one) => one.verb === verb && ['deployments', 'pods'].includes(one.plural))
      .length;
  const pages = (2 * INSTANCES) / 500;
  await until(
    () => asked('watch'),
    (watches) => watches === 2,
  );
  // Services and budgets of 500 revisions are created at the same time.
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const startedAt = process.cpuUsage();
    await all();
    const { user, system } = process.cpuUsage(startedAt);
    rounds.push((user + system) / 1_000 / INSTANCES);
  }
  expect([asked('list'), asked('watch')]).toEqual([pages, 2]);
  // One observation of 1,000 instances a second must leave nearly all of a core to others. Test machines are slow, and
  // the first rounds include the compiler.
  expect(Math.min(...rounds)).toBeLessThan(0.5);
}, 120_000);
