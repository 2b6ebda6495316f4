import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { observeUntil } from '@slipway/target-driver/conformance';
import { DriverBench, engineConfig, INSTALLATION, instanceSpec, NAMESPACE, until } from '../../test/driver-bench.js';
import {
  disrupted,
  GROUP_ENGINE,
  groupSpec as spec,
  groupTarget,
  LEAVING,
  LOADING,
  member,
  refusal,
  UP,
} from '../../test/group-rows.js';
import { QUOTA } from '../../test/pod-rows.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { EVENTS, LEADER_WORKER_SETS, PODS } from '../api/kinds.js';
import type { LeaderWorkerSet, Pod } from '../api/objects.js';
import type { KubernetesDriverOptions } from './session.js';
import { KubernetesDriver } from './kubernetes-driver.js';

/** Nothing simulates controllers here: each test writes the objects that they would leave. */
let api: StubApi;
let driver: KubernetesDriver;
beforeEach(async () => {
  api = await startStubApi();
  driver = driverWith();
});
afterEach(async () => {
  await driver.close();
  await api.close();
});

const host = { installation: async () => INSTALLATION, pausePoint: async () => undefined };
const driverWith = (options: KubernetesDriverOptions = {}, target = groupTarget) =>
  new KubernetesDriver(target, host, { cluster: api.cluster(), ...options });
const groups = () => api.store.list<LeaderWorkerSet>(LEADER_WORKER_SETS, NAMESPACE);
const put = (...pods: Pod[]) => pods.map((pod) => api.store.put<Pod>(PODS, pod));
const whole = () => put(...[0, 1, 2].map((index) => member(index, UP)));
const asked = (verb: string, plural: string) =>
  api.requests.filter((one) => one.verb === verb && one.plural === plural);
const soon = () => new Promise((done) => setTimeout(done, 300));

async function serving(): Promise<Pod[]> {
  await driver.provision(spec);
  const pods = whole();
  await observeUntil(driver, spec, 'ready');
  return pods;
}

it('a group is created once, stopped by an apply, and remains as a mark until it is old', async () => {
  await serving();
  await driver.provision(spec);
  const [{ metadata }] = groups() as [LeaderWorkerSet];
  expect(asked('create', 'leaderworkersets')).toHaveLength(1);
  expect(asked('create', 'deployments')).toEqual([]);
  expect((await driver.list()).map(({ instanceId }) => instanceId)).toEqual([spec.instanceId]);

  expect(await driver.terminate(spec.instanceId)).toBe('stopping');
  expect(asked('apply', 'leaderworkersets')[0]).toMatchObject({
    query: { fieldManager: 'slipway-stop' },
    body: { metadata: { uid: metadata.uid }, spec: { replicas: 0 } },
  });
  for (const index of [0, 1, 2]) api.store.remove(PODS, NAMESPACE, member(index, UP).metadata.name);
  // Its controller has not processed the stop: it may still create a leader.
  await soon();
  expect(await driver.terminate(spec.instanceId)).toBe('stopping');
  const idle = { replicas: 0, conditions: [{ type: 'Available', status: 'True' }] };
  api.store.change<LeaderWorkerSet>(LEADER_WORKER_SETS, NAMESPACE, metadata.name, (one) => void (one.status = idle));
  expect(
    await until(
      () => driver.terminate(spec.instanceId),
      (state) => state === 'gone',
    ),
  ).toBe('gone');
  await driver.provision(spec);
  expect(await driver.observe(spec)).toMatchObject({ state: 'exited', reason: 'terminated' });
  expect(groups()).toHaveLength(1);

  const longAgo = { 'slipway.dev/stopped-at': new Date(Date.now() - 3_601_000).toISOString() };
  api.store.change(LEADER_WORKER_SETS, NAMESPACE, metadata.name, (one) => void (one.metadata.annotations = longAgo));
  await until(
    async () => {
      await driver.list();
      return groups();
    },
    (left) => left.length === 0,
  );
  expect(asked('delete', 'leaderworkersets')[0]?.body.preconditions).toEqual({ uid: metadata.uid });
});

it('a group has a Secret that is deleted with it', async () => {
  const keyed = { ...GROUP_ENGINE, env: { SIM_KEY: '{instance_key}' } };
  const own = driverWith({}, { ...groupTarget, engines: { group: keyed } });
  await own.provision({ ...spec, instanceKey: 'k'.repeat(43) });
  const { uid, name } = groups()[0]!.metadata;
  expect(asked('create', 'secrets')[0]?.body.metadata.ownerReferences).toEqual([
    { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet', name, uid },
  ]);
  await own.close();
});

it('a group is reported as soon as one of its pods is not ready, with the reason why pods cannot be created', async () => {
  const [, , worker] = await serving();
  api.store.change<Pod>(PODS, NAMESPACE, worker!.metadata.name, (pod) => void (pod.status = LOADING));
  await observeUntil(driver, spec, 'starting');
  api.store.remove(PODS, NAMESPACE, worker!.metadata.name);
  const at = new Date(Date.now() + 1_000).toISOString();
  const told = new Promise<void>((done) => driver.onChange(() => done()));
  api.store.put(EVENTS, refusal(QUOTA, { lastTimestamp: at }));
  await told;
  const seen = await until(
    () => driver.observe(spec),
    ({ reason }) => reason === 'quota_exceeded',
  );
  expect(seen).toMatchObject({ state: 'starting', message: QUOTA });
});

it('a group is reported as changed for events about it or its leader, and for no others', async () => {
  await serving();
  const told: string[] = [];
  driver.onChange((instanceId) => told.push(instanceId));
  const { name } = groups()[0]!.metadata;
  for (const about of ['another', `${name}-1`, name, `${name}-0`]) {
    const involvedObject = { kind: 'StatefulSet', name: about, namespace: NAMESPACE };
    api.store.put(EVENTS, refusal(QUOTA, { metadata: { name: `${about}.1`, namespace: NAMESPACE }, involvedObject }));
  }
  await until(
    () => told.length,
    (times) => times >= 2,
  );
  expect(told).toEqual([spec.instanceId, spec.instanceId]);
});

describe('repairs that the controller of groups does not make', () => {
  it('of a worker that was created long after its leader delete the leader by its uid, after its workers', async () => {
    await driver.close();
    driver = driverWith({ groups: { lateMs: 200 } });
    const [leader, , worker] = await serving();
    await soon();
    expect(asked('delete', 'pods')).toEqual([]);
    api.store.remove(PODS, NAMESPACE, worker!.metadata.name);
    put(member(2, UP));
    await until(
      async () => {
        await driver.observe(spec);
        return asked('delete', 'pods');
      },
      (deletions) => deletions.length > 0,
    );
    expect(asked('delete', 'pods')[0]).toMatchObject({
      name: leader!.metadata.name,
      body: { propagationPolicy: 'Foreground', preconditions: { uid: leader!.metadata.uid } },
    });
  });

  it('of a pod on a lost node delete it after a time, and no other pod that is being deleted', async () => {
    await driver.close();
    driver = driverWith({ groups: { abandonedAfterMs: 200 } });
    await serving();
    const leaves = { ...LEAVING, deletionGracePeriodSeconds: 0 };
    const [lost] = put(member(1, disrupted('DeletionByTaintManager'), leaves));
    put(member(2, disrupted('EvictionByEvictionAPI'), leaves));
    await observeUntil(driver, spec, 'unhealthy');
    expect(asked('delete', 'pods')).toEqual([]);
    await soon();
    await driver.observe(spec);
    expect(asked('delete', 'pods')).toMatchObject([
      { name: lost!.metadata.name, body: { gracePeriodSeconds: 0, preconditions: { uid: lost!.metadata.uid } } },
    ]);
  });
});

describe('a target', () => {
  const needed = 'delete pods in namespace models';

  it('without groups needs neither their type nor rights on it', async () => {
    const plain = driverWith(
      { health: { roundMs: 50, repairMs: 5 } },
      { ...groupTarget, engines: { sim: engineConfig() } },
    );
    api.forbid({ verb: 'delete', plural: 'pods' });
    api.forbid({ plural: 'leaderworkersets' });
    api.forbid({ plural: 'events' });
    await plain.list();
    await plain.provision(instanceSpec());
    const reviews = () => asked('create', 'selfsubjectrulesreviews').length;
    await until(reviews, (count) => count > 3);
    expect(plain.health()).toEqual({ state: 'ok' });
    expect([...asked('list', 'leaderworkersets'), ...asked('list', 'events')]).toEqual([]);
    // It does from the moment on at which its file names a group.
    plain.reconfigure(groupTarget)();
    await until(
      () => plain.health().message ?? '',
      (message) => message.includes('list leaderworkersets.leaderworkerset.x-k8s.io in namespace models'),
    );
    await plain.close();
  });

  it('with groups is degraded if the type or a right is missing', async () => {
    api.forbid({ verb: 'delete', plural: 'pods' });
    await driver.list();
    const { message } = await until(
      () => driver.health(),
      ({ state }) => state === 'degraded',
    );
    expect(message).toContain(needed);
  });

  it('whose cluster does not have groups runs its other engines', async () => {
    const bench = await DriverBench.create();
    bench.cluster.isHealthy = true;
    bench.cluster.api.lacks(LEADER_WORKER_SETS);
    const other = bench.driver({ engines: groupTarget.engines });
    const plain = instanceSpec();
    await other.provision(plain);
    await observeUntil(other, plain, 'ready');
    expect(await other.list()).toHaveLength(1);
    await expect(other.provision({ ...spec, instanceId: 'ins_aaaa1111' })).rejects.toMatchObject({
      reason: 'target_unavailable',
    });
    const { message } = await until(
      () => other.health(),
      ({ state }) => state === 'degraded',
    );
    expect(message).toContain('does not have the type leaderworkersets.leaderworkerset.x-k8s.io/v1. ');
    await bench.close();
  });
});
