import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import {
  ControlPlane,
  DEPLOYMENTS,
  findPrograms,
  LEADER_WORKER_SETS,
  LwsController,
  PODS,
  RESOURCE_QUOTAS,
  SERVICES,
  TestBed,
  workerRules,
  type Pod,
} from '@slipway/kube-testbed';
import { kubeItWith } from '@slipway/kube-testbed/jest';
import type { InstanceSpec, Observation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import { BedBench } from '../../test/bed-bench.js';
import { until } from '../../test/driver-bench.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(240_000);
const WITHIN_MS = 120_000;
const SIZE = 3;

const { bin } = findPrograms(undefined, ['lws']);
const it = kubeItWith('lws');

let plane: ControlPlane;
let controller: LwsController;
let bed: TestBed;
let bench: BedBench;
let driver: KubernetesDriver;
beforeAll(async () => {
  if (bin === undefined) return;
  plane = await ControlPlane.start({ bin });
  controller = await LwsController.start(plane.access);
  bed = await TestBed.open({ access: plane.access, nodes: [{}, {}, {}] });
});
afterAll(async () => {
  await bed?.close();
  await controller?.stop();
  await plane?.stop();
});
beforeEach(async () => {
  if (bin === undefined) return;
  bench = await BedBench.create(bed, {}, workerRules({ usesGroups: true }));
  bench.setHealthy(true);
  driver = driverWith();
});
afterEach(() => bench?.close());

/** The leader is healthy while the bench says so; the workers only run. */
const driverWith = (more: Parameters<BedBench['steered']>[0] = {}, options: Parameters<BedBench['driver']>[1] = {}) => {
  const worker_command = ['steered', '--host', '0.0.0.0', '--port', '{port}'];
  const sim = bench.steered({ unit: { kind: 'leaderworkerset', size: SIZE }, worker_command, ...more });
  return bench.driver({ engines: { sim } }, options);
};
const podsNow = async () => (await bed.client.list<Pod>(PODS, { namespace: bench.namespace })).items;
const named = async (end: RegExp) => (await podsNow()).find(({ metadata }) => end.test(metadata.name))!;
const LEADER = /-g\d+-0$/;
const WORKER = /-g\d+-0-2$/;
/**
 * The controller of groups restarts a group itself, and again for each old worker that ends after the new leader was
 * created. Up to four starts have been observed. The limits detect a driver that restarts a group again and again.
 */
const MOST_STARTS = new Map([
  [LEADER, 5],
  [WORKER, 2],
]);

/** The uid of the leader. Undefined if a pod of the group is missing, does not run or is being deleted. */
async function wholeGroup(): Promise<string | undefined> {
  const pods = await podsNow();
  const up = pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
  if (pods.length !== SIZE || up.length !== SIZE) return undefined;
  return up.find(({ metadata }) => LEADER.test(metadata.name))?.metadata.uid;
}

/**
 * Observes while something happens. Collects the lives that were reported as ready, and counts how often an incomplete
 * group was.
 */
class Onlooker {
  readonly lives: string[] = [];
  halves = 0;
  private isOver = false;
  private readonly looking: Promise<void>;

  constructor(private readonly spec: InstanceSpec) {
    this.looking = this.look();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.looking;
  }

  private async look(): Promise<void> {
    while (!this.isOver) {
      const before = await wholeGroup();
      // The driver may not have received the last change yet.
      await new Promise((done) => setTimeout(done, 250));
      const { state, incarnation = '' } = await driver.observe(this.spec);
      if (state !== 'ready') continue;
      if (!this.lives.includes(incarnation)) this.lives.push(incarnation);
      if (before === undefined && (await wholeGroup()) === undefined) this.halves += 1;
    }
  }
}

async function serving(spec: InstanceSpec): Promise<Observation> {
  await driver.provision(spec);
  return observeUntil(driver, spec, 'ready', WITHIN_MS);
}

const another = (spec: InstanceSpec, { incarnation }: Observation) =>
  until(
    () => driver.observe(spec),
    (seen) => seen.state === 'ready' && seen.incarnation !== incarnation,
    WITHIN_MS,
  );

it('a group is one instance: it starts once, has its leader’s address, ends with its last pod, and never starts again', async () => {
  const others = Array.from({ length: 3 }, () => driverWith());
  const spec = bench.spec();
  await Promise.all([driver, ...others].flatMap((one) => Array.from({ length: 10 }, () => one.provision(spec))));
  const seen = await observeUntil(driver, spec, 'ready', WITHIN_MS);
  const leader = await named(LEADER);
  expect(seen).toMatchObject({
    incarnation: `${leader.metadata.uid}/0`,
    baseUrl: `http://${leader.status!.podIP}:28734`,
  });
  expect((await fetch(`${seen.baseUrl}/health`)).status).toBe(200);
  const where = { namespace: bench.namespace };
  expect((await bed.client.list(LEADER_WORKER_SETS, where)).items).toHaveLength(1);
  expect((await bed.client.list(DEPLOYMENTS, where)).items).toEqual([]);
  await until(
    async () => (await bed.client.list(SERVICES, where)).items.map(({ spec: of }) => of.selector),
    (selectors) => selectors.some((one) => one?.['leaderworkerset.sigs.k8s.io/worker-index'] === '0'),
    WITHIN_MS,
  );
  await terminateUntilGone(driver, spec.instanceId, WITHIN_MS);
  // Ended pods may remain until their node has removed them.
  expect((await podsNow()).filter(({ status }) => ['Pending', 'Running'].includes(status?.phase ?? ''))).toEqual([]);
  await Promise.all(others.map((one) => one.provision(spec)));
  expect(await driver.observe(spec)).toMatchObject({ state: 'exited', reason: 'terminated' });
  expect(bench.starts()).toBe(1);
});

for (const [what, end] of [
  ['a worker', WORKER],
  ['the leader', LEADER],
] as const) {
  it(`when ${what} is deleted the whole group starts again, and half a group is never reported as ready`, async () => {
    const spec = bench.spec();
    const before = await serving(spec);
    const onlooker = new Onlooker(spec);
    const { name, uid } = (await named(end)).metadata;
    await bed.client.remove(PODS, { namespace: bench.namespace, name }, { uid });
    const after = await another(spec, before);
    await new Promise((done) => setTimeout(done, 5_000));
    await onlooker.stop();
    expect(onlooker.halves).toBe(0);
    expect(onlooker.lives.filter((life) => life !== before.incarnation)).toEqual([after.incarnation]);
    expect([after.restarts, after.lastExit?.reason]).toEqual([0, 'deleted']);
    expect(bench.starts()).toBeLessThanOrEqual(MOST_STARTS.get(end)!);
  });

  it(`when the container of ${what} ends the whole group starts again once, and half a group is never reported as ready`, async () => {
    const spec = bench.spec();
    const before = await serving(spec);
    const onlooker = new Onlooker(spec);
    bed.kubelet.crash(bench.namespace, (await named(end)).metadata.name);
    const after = await another(spec, before);
    await new Promise((done) => setTimeout(done, 3_000));
    await onlooker.stop();
    expect(onlooker.halves).toBe(0);
    expect(onlooker.lives.filter((life) => life !== before.incarnation)).toEqual([after.incarnation]);
    const leader = await named(LEADER);
    expect(after.incarnation).toBe(`${leader.metadata.uid}/0`);
    // A kubelet restarts a container before the controller deletes its pod.
    expect(bench.starts()).toBeLessThanOrEqual(MOST_STARTS.get(end)!);
  });
}

it('a slow leader gets its time, and nothing is restarted', async () => {
  bench.setHealthy(false);
  const spec = bench.spec();
  await driver.provision(spec);
  const onlooker = new Onlooker(spec);
  const workers = async () => (await podsNow()).filter(({ status }) => status?.phase === 'Running').length;
  await until(workers, (count) => count === SIZE, WITHIN_MS);
  await new Promise((done) => setTimeout(done, 3_000));
  const { uid } = (await named(LEADER)).metadata;
  expect(onlooker.lives).toEqual([]);
  expect(await driver.observe(spec)).toMatchObject({ state: 'starting', reason: 'loading' });
  bench.setHealthy(true);
  const seen = await observeUntil(driver, spec, 'ready', WITHIN_MS);
  await onlooker.stop();
  expect(seen.incarnation).toBe(`${uid}/0`);
  expect(bench.starts()).toBe(1);
});

it('an evicted worker moves the group, which does not count as a crash', async () => {
  const spec = bench.spec();
  const before = await serving(spec);
  await bed.client.evict(bench.namespace, (await named(WORKER)).metadata.name);
  const after = await another(spec, before);
  expect(after).toMatchObject({ restarts: 0, lastExit: { reason: 'evicted' } });
});

it('a worker that is created long after its leader causes a restart of the whole group', async () => {
  driver = driverWith({}, { groups: { lateMs: 2_000 } });
  const spec = bench.spec();
  const before = await serving(spec);
  await new Promise((done) => setTimeout(done, 3_000));
  const onlooker = new Onlooker(spec);
  const { name, uid } = (await named(WORKER)).metadata;
  // Deleted at once: the controller of groups does not see the deletion in time, and another pod has the name.
  await bed.client.remove(PODS, { namespace: bench.namespace, name }, { uid, graceSeconds: 0 });
  await another(spec, before);
  await onlooker.stop();
  expect(onlooker.halves).toBe(0);
  expect((await named(LEADER)).metadata.uid).not.toBe(before.incarnation?.split('/')[0]);
});

it('a worker that cannot be created is reported in the words of the server, and the start continues by itself', async () => {
  const quota = { namespace: bench.namespace, name: 'two' };
  await bed.client.create(RESOURCE_QUOTAS, { metadata: quota, spec: { hard: { pods: '2' } } });
  await until(
    async () => (await bed.client.get(RESOURCE_QUOTAS, quota))['status']?.hard,
    (hard) => hard !== undefined,
    WITHIN_MS,
  );
  const spec = bench.spec();
  await driver.provision(spec);
  const seen = await until(
    () => driver.observe(spec),
    ({ reason }) => reason === 'quota_exceeded',
    WITHIN_MS,
  );
  expect(seen).toMatchObject({ state: 'starting' });
  expect(seen.message).toContain('exceeded quota: two');
  await bed.client.merge(RESOURCE_QUOTAS, quota, { spec: { hard: { pods: '9' } } });
  await observeUntil(driver, spec, 'ready', WITHIN_MS);
});

it('each missing right for groups is named, and no longer named when it is granted again', async () => {
  driver = driverWith({}, { health: { roundMs: 1_000 } });
  const spec = bench.spec();
  await serving(spec);
  const all = workerRules({ usesGroups: true });
  const plain = new Set(workerRules().map((rule) => JSON.stringify(rule)));
  const tried = all.filter((rule) => !plain.has(JSON.stringify(rule)));
  const told: string[] = [];
  for await (const { right, message } of bench.withoutEach(driver, all, tried)) {
    expect(message).toContain(`is not allowed to: ${right}`);
    expect((await driver.observe(spec)).state).toBe('ready');
    told.push(right);
  }
  const rights = (resource: string, ...verbs: string[]) => verbs.map((verb) => `${verb} ${resource}`);
  expect(told).toEqual([
    ...rights('leaderworkersets', 'list', 'watch', 'create', 'patch', 'delete'),
    ...rights('pods', 'delete'),
    ...rights('events', 'list', 'watch'),
  ]);
});

it('a group with a worker on a lost node returns on other nodes, without help', async () => {
  driver = driverWith({}, { groups: { abandonedAfterMs: 1_000 } });
  const spec = bench.spec();
  const before = await serving(spec);
  const { nodeName = '' } = (await named(WORKER)).spec;
  await bed.kubelet.silence(nodeName);
  const lost = await until(
    () => driver.observe(spec),
    ({ state }) => state !== 'ready',
    WITHIN_MS,
  );
  expect(lost.reason).toBe('node_lost');
  const after = await another(spec, before);
  expect(after.lastExit?.reason).toBe('node_lost');
  bed.kubelet.wake(nodeName);
});
