import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { InstanceSpec, Observation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { DriverBench, engineConfig, instanceSpec, NAMESPACE, until } from '../../test/driver-bench.js';
import { DEPLOYMENTS, PDBS } from '../api/kinds.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

/** Words of API servers of Kubernetes 1.36, with other names. */
const FULL =
  'deployments.apps "slw-x" is forbidden: exceeded quota: objects, requested: count/deployments.apps=1, used: count/deployments.apps=2, limited: count/deployments.apps=2';
const UNCOUNTED =
  'deployments.apps "slw-x" is forbidden: status unknown for quota: objects, resources: count/deployments.apps';
const ENDING =
  'deployments.apps "slw-x" is forbidden: unable to create new content in namespace models because it is being terminated';
const SILENT_WEBHOOK =
  'Internal error occurred: failed calling webhook "policy.example.com": failed to call webhook: Post "https://policy.example.com:443/?timeout=1s": context deadline exceeded';
const DENIED = 'admission webhook "policy.example.com" denied the request: no such cost centre';
const POLICY = `deployments.apps "slw-x" is forbidden: ValidatingAdmissionPolicy 'named' with binding 'all' denied request: failed expression: has(object.metadata.labels.owner)`;
const GONE = 'namespaces "models" not found';
const BUSY = 'too many requests, please try again later.';

let bench: DriverBench;
let driver: KubernetesDriver;
beforeEach(async () => {
  bench = await DriverBench.create();
  bench.cluster.isHealthy = true;
  driver = bench.driver({}, { watch: { shorterRetries: 20 }, revisions: { sweepMs: 50, paceMs: 0 } });
});
afterEach(() => bench.close());

const many = (count: number): InstanceSpec[] =>
  Array.from({ length: count }, (_, n) => instanceSpec({ instanceId: `ins_${String(n).padStart(8, '0')}` }));
/** One check by the caller of the driver: what is absent is started. */
async function look(spec: InstanceSpec, by = driver): Promise<Observation> {
  const seen = await by.observe(spec);
  if (seen.state === 'absent') await by.provision(spec).catch(() => undefined);
  return seen;
}
const writes = () =>
  bench.cluster.api.requests.filter(({ verb, plural }) => verb === 'create' && plural === 'deployments');

describe('a unit that the API server refuses', () => {
  it.each([
    [403, FULL, 'quota_exceeded', 'UnitRefusedError'],
    [403, UNCOUNTED, 'quota_exceeded', 'UnitRefusedError'],
    [403, 'quota "gpu" exceeded', 'quota_exceeded', 'UnitRefusedError'],
    [403, ENDING, 'config_error', 'UnitRefusedError'],
    [404, GONE, 'target_unavailable', 'TargetUnavailableError'],
    [429, BUSY, 'target_unavailable', 'TargetUnavailableError'],
    [500, SILENT_WEBHOOK, 'target_unavailable', 'TargetUnavailableError'],
    [403, DENIED, 'admission_denied', 'UnitRefusedError'],
    [422, POLICY, 'admission_denied', 'UnitRefusedError'],
    [403, 'maximum cpu usage per Container is 1, but limit is 2', 'admission_denied', 'UnitRefusedError'],
  ])('with %d "%s" waits as %s, and starts by itself', async (status, message, reason, name) => {
    const back = bench.cluster.api.odd({ verb: 'create', plural: 'deployments' }, { status, message });
    const spec = instanceSpec();
    await expect(driver.provision(spec)).rejects.toMatchObject({ name, reason });
    for (let time = 0; time < 5; time += 1) await look(spec);
    // Nothing shows more while the next try waits.
    const waits = await until(
      () => look(spec),
      ({ state }) => state === 'starting',
    );
    expect(waits).toMatchObject({ reason, generation: 1 });
    back();
    await until(
      () => look(spec),
      ({ state }) => state === 'ready',
    );
    expect(driver.health()).toEqual({ state: 'ok' });
  });

  it('is a condition of the target with the words of the server until it exists or is not needed', async () => {
    const back = bench.cluster.api.odd({ verb: 'create', plural: 'deployments' }, { status: 403, message: FULL });
    const [one, two, three] = many(3) as [InstanceSpec, InstanceSpec, InstanceSpec];
    for (const spec of [one, two, three]) await look(spec);
    expect(driver.health()).toEqual({
      state: 'ok',
      refused: expect.stringMatching(
        /^3 objects of kind Deployment cannot be created in namespace models, since 20\S+: deployments\.apps .*exceeded quota: objects/,
      ),
    });
    await terminateUntilGone(driver, three.instanceId);
    expect(driver.health().refused).toMatch(/^2 objects/);
    back();
    for (const spec of [one, two])
      await until(
        () => look(spec),
        ({ state }) => state === 'ready',
      );
    expect(driver.health()).toEqual({ state: 'ok' });
  });

  it('costs few requests for any number of instances, and all start when the quota is raised', async () => {
    driver = bench.driver({}, { watch: { shorterRetries: 1 } });
    const back = bench.cluster.api.odd({ verb: 'create', plural: 'deployments' }, { status: 403, message: FULL });
    const specs = many(40);
    await Promise.all(specs.map((spec) => look(spec)));
    bench.cluster.api.forgetRequests();
    const seconds = 5;
    const end = Date.now() + seconds * 1_000;
    while (Date.now() < end) {
      await Promise.all(specs.map((spec) => look(spec)));
      await new Promise((done) => setTimeout(done, 50));
    }
    const calls = bench.cluster.api.requests.filter(({ plural }) => plural !== 'selfsubjectrulesreviews');
    expect(calls.length).toBeLessThanOrEqual(seconds * 2 + 5);
    back();
    await until(
      async () => {
        await Promise.all(specs.map((spec) => look(spec)));
        return bench.cluster.api.store.list(DEPLOYMENTS, NAMESPACE).length;
      },
      (count) => count === specs.length,
      40_000,
    );
  }, 90_000);
});

describe('another object that the API server refuses', () => {
  it('is a condition of the target and of the ready instance, until it is made', async () => {
    const words = 'poddisruptionbudgets.policy "slw-x" is forbidden: exceeded quota: objects';
    const back = bench.cluster.api.odd({ verb: 'apply', plural: PDBS.plural }, { status: 403, message: words });
    const spec = instanceSpec();
    await driver.provision(spec);
    const seen = await until(
      () => driver.observe(spec),
      ({ state, message = '' }) => state === 'ready' && message !== '',
    );
    expect(seen.message).toMatch(
      /^PodDisruptionBudget slw-chat-1-\S+ cannot be created in namespace models since 20\S+: poddis.*exceeded quota: objects$/,
    );
    expect(driver.health().refused).toMatch(
      /^1 object of kind PodDisruptionBudget cannot be created in namespace models,/,
    );
    back();
    await until(
      () => driver.observe(spec),
      ({ message }) => message === undefined,
    );
    expect([driver.health(), bench.cluster.api.store.list(PDBS)]).toEqual([{ state: 'ok' }, [expect.anything()]]);
  });

  it('of the file stays a condition only while an instance needs it', async () => {
    bench.cluster.api.odd({ verb: 'apply', plural: PDBS.plural }, { status: 403, message: FULL });
    const spec = instanceSpec();
    await driver.provision(spec);
    await until(
      () => driver.observe(spec),
      ({ state, message = '' }) => state === 'ready' && message !== '',
    );
    await terminateUntilGone(driver, spec.instanceId);
    for (const { metadata } of bench.cluster.api.store.list(DEPLOYMENTS))
      bench.cluster.api.store.remove(DEPLOYMENTS, NAMESPACE, metadata.name);
    await until(
      async () => (await driver.list(), driver.health()),
      ({ refused }) => refused === undefined,
    );
  });

  it('is waited for if it is the Secret of a unit, which is never started twice', async () => {
    driver = bench.driver(
      { engines: { sim: engineConfig({ env: { SIM_KEY: '{instance_key}' } }) } },
      { watch: { shorterRetries: 20 } },
    );
    const words =
      'secrets "slw-x" is forbidden: exceeded quota: objects, requested: secrets=1, used: secrets=1, limited: secrets=1';
    const back = bench.cluster.api.odd({ verb: 'create', plural: 'secrets' }, { status: 403, message: words });
    const spec = instanceSpec({ instanceKey: 'k'.repeat(43) });
    await expect(driver.provision(spec)).rejects.toMatchObject({ reason: 'quota_exceeded' });
    for (let time = 0; time < 5; time += 1) await look(spec);
    const seen = await until(
      () => look(spec),
      ({ state }) => state === 'starting',
    );
    expect(seen).toMatchObject({ reason: 'quota_exceeded', message: words });
    expect(driver.health().refused).toMatch(/^1 object of kind Secret cannot be created/);
    back();
    await until(
      () => look(spec),
      ({ state }) => state === 'ready',
    );
    expect(writes()).toHaveLength(1);
  });
});

describe('marks of ended generations', () => {
  const aged = (seconds: number) => new Date(Date.now() - seconds * 1_000).toISOString();
  async function ended(count: number, seconds: number): Promise<void> {
    for (const spec of many(count)) {
      await driver.provision(spec);
      await observeUntil(driver, spec, 'ready');
      await terminateUntilGone(driver, spec.instanceId);
    }
    for (const { metadata } of bench.cluster.api.store.list(DEPLOYMENTS))
      bench.cluster.api.store.change(DEPLOYMENTS, NAMESPACE, metadata.name, (unit) => {
        unit.metadata.annotations = { ...unit.metadata.annotations, 'slipway.dev/stopped-at': aged(seconds) };
      });
    // The watch shows the new times.
    await new Promise((done) => setTimeout(done, 200));
  }
  const left = () => bench.cluster.api.store.list(DEPLOYMENTS).length;

  it.each([
    [180, 0],
    [60, 3],
  ])('of %d s ago make place for a unit that a quota refuses: %d are left', async (seconds, marks) => {
    await ended(3, seconds);
    await driver.list();
    expect(left()).toBe(3);
    const back = bench.cluster.api.odd({ verb: 'create', plural: 'deployments' }, { status: 403, message: FULL });
    const spec = instanceSpec({ instanceId: 'ins_ffff0000' });
    await expect(driver.provision(spec)).rejects.toMatchObject({ reason: 'quota_exceeded' });
    await driver.list();
    await until(left, (count) => count === marks);
    back();
    await until(
      () => look(spec),
      ({ state }) => state === 'ready',
    );
  });
});

it('a start that was decided more than a minute ago is not sent', async () => {
  const spec = instanceSpec();
  const now = Date.now;
  let late = 0;
  Date.now = () => now() + late;
  bench.onPausePoint = async (name) => {
    if (name === 'kubernetes:before-unit') late = 61_000;
  };
  try {
    await expect(driver.provision(spec)).rejects.toMatchObject({ reason: 'target_unavailable' });
    expect(writes()).toEqual([]);
  } finally {
    Date.now = now;
  }
});
