import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeConformance, observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { DriverBench, engineConfig, instanceSpec, NAMESPACE } from '../../test/driver-bench.js';
import { DEPLOYMENTS } from '../api/kinds.js';

describeConformance('kubernetes, on a stub API server', {
  adopts: false,
  restarts: 'target',
  probes: 'target',
  outlivesHost: true,
  create: async () => {
    const bench = await DriverBench.create();
    return {
      newDriver: () => bench.driver(),
      spec: instanceSpec,
      setHealthy: async (isHealthy) => {
        bench.cluster.isHealthy = isHealthy;
      },
      starts: async (instanceId) => bench.cluster.started.get(instanceId) ?? 0,
      crash: async ({ incarnation = '' }) => bench.cluster.crash(incarnation.split('/')[0]!),
      dispose: () => bench.close(),
    };
  },
});

let bench: DriverBench;
beforeEach(async () => {
  bench = await DriverBench.create();
  bench.cluster.isHealthy = true;
});
afterEach(async () => {
  await bench.close();
});

const unitsNow = () => bench.cluster.api.store.list(DEPLOYMENTS, NAMESPACE);

describe('a generation is started at most once', () => {
  it('by 4 workers with 25 calls each at the same time', async () => {
    const drivers = Array.from({ length: 4 }, () => bench.driver());
    const spec = instanceSpec();
    const calls = drivers.flatMap((driver) => Array.from({ length: 25 }, () => driver.provision(spec)));
    await Promise.all(calls);
    await observeUntil(drivers[3]!, spec, 'ready');
    expect(unitsNow()).toHaveLength(1);
    expect(bench.cluster.podsOf(spec.instanceId)).toHaveLength(1);
    expect(bench.cluster.started.get(spec.instanceId)).toBe(1);
  });

  it('by a worker that pauses between its check and its write until the generation has ended', async () => {
    const spec = instanceSpec();
    let release = () => {};
    let tellReached = () => {};
    const released = new Promise<void>((done) => (release = done));
    const isReached = new Promise<void>((done) => (tellReached = done));
    bench.onPausePoint = async (name) => {
      if (name !== 'kubernetes:before-unit') return;
      tellReached();
      await released;
    };
    const late = bench.driver().provision(spec);
    await isReached;
    bench.onPausePoint = async () => undefined;
    const other = bench.driver();
    await other.provision(spec);
    await observeUntil(other, spec, 'ready');
    await terminateUntilGone(other, spec.instanceId);
    release();
    await late;
    await new Promise((done) => setTimeout(done, 200));
    expect(bench.cluster.podsOf(spec.instanceId)).toHaveLength(0);
    expect(bench.cluster.started.get(spec.instanceId)).toBe(1);
    expect(await other.observe(spec)).toMatchObject({ state: 'exited', reason: 'terminated' });
  });

  it('also if a worker dies between the unit and its Secret, which the next worker writes', async () => {
    const keyed = { engines: { sim: engineConfig({ env: { SIM_KEY: '{instance_key}' } }) } };
    const spec = instanceSpec({ instanceKey: 'k'.repeat(43) });
    bench.onPausePoint = async (name) => {
      if (name === 'kubernetes:after-unit') throw new Error('killed');
    };
    await expect(bench.driver(keyed).provision(spec)).rejects.toThrow('killed');
    bench.onPausePoint = async () => undefined;
    const next = bench.driver(keyed);
    // A unit without its Secret was not started completely, so its caller provisions again.
    expect(await observeUntil(next, spec, 'absent')).toMatchObject({ state: 'absent' });
    await next.provision(spec);
    await observeUntil(next, spec, 'ready');
    expect(unitsNow()).toHaveLength(1);
  });
});
