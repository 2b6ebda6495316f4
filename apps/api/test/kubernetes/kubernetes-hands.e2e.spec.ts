import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { DEPLOYMENTS, DISRUPTION_BUDGETS, isReady, PODS, SERVICES, type Pod } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { exactly, KubeStack, lost, specOn, type KubeStackTarget } from './kube-stack.js';
import { isAlive, until } from '../harness/stack.js';

jest.setTimeout(240_000);

const AGAIN_MS = 60_000;
/** They are checked once a minute. */
const REVISION_OBJECTS_MS = 90_000;

let kube: KubeStack;
/** A deployment whose Service and budget are deleted first: other tests run in the time until they are back. */
let bereft: { name: string; instances: any[] };
beforeAll(async () => {
  if (!hasKube) return;
  kube = await KubeStack.start({ nodes: [{}, {}, {}] });
  const name = await kube.serving(2);
  bereft = { name, instances: await kube.instancesOf(name) };
  await until('its Service and its budget', async () => (await revisionObjects()).length === 2, AGAIN_MS);
  const { namespace } = kube;
  for (const { kind, metadata } of await revisionObjects())
    await kube.bed.client.remove(kind, { namespace, name: metadata.name! });
});
afterAll(() => kube?.stop());

/** The objects of the revision of `bereft`. */
async function revisionObjects() {
  const [unit] = await kube.unitsOf(bereft.instances);
  const labelSelector = `slipway.dev/revision=${unit!.metadata.labels!['slipway.dev/revision']}`;
  const found = await Promise.all(
    [SERVICES, DISRUPTION_BUDGETS].map(async (kind) =>
      (await kube.bed.client.list(kind, { namespace: kube.namespace, labelSelector })).items.map(({ metadata }) => ({
        kind,
        metadata,
      })),
    ),
  );
  return found.flat();
}

const statesOf = async (name: string) => (await kube.instancesOf(name)).map(({ state }) => state).join();
const generationsOf = async (name: string) => (await kube.instancesOf(name)).map(({ generation }) => generation);
/** Whether the first of two instances has left its node, and both serve. */
const runsElsewhere = async (name: string, { place }: { place: string }) =>
  (await kube.instancesOf(name))[0].place !== place && (await statesOf(name)) === 'ready,ready';
const workerLog = () => kube.stack.logOf('worker');
const readySaid = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'Ready')?.status;

kubeIt('a drained node loses no request whose answer had not begun, and its instance runs elsewhere', async () => {
  const name = await kube.serving(2, 'cluster', { args: { ttft_ms: 10, itl_ms: 200 } });
  const instances = await kube.instancesOf(name);
  const [gone, stays] = instances;
  expect(gone.place).not.toBe(stays.place);
  const [pod] = await kube.podsOf([gone]);
  let notReadyAt = 0;
  const answers = await kube.underLoad(name, async () => {
    // Half of them are streams, which last longer than the time from here to the end of the node.
    const isBusy = async () => (await kube.instancesOf(name))[0].in_flight >= 10;
    await until('it to have requests in flight', isBusy, AGAIN_MS);
    const notReady = kube.saidOf(pod!, (one) => readySaid(one) === 'False');
    await kube.bed.kubelet.silence(gone.place, { kills: true });
    notReadyAt = await notReady;
    await until('it to run elsewhere', () => runsElsewhere(name, gone), AGAIN_MS, workerLog);
  });
  kube.bed.kubelet.wake(gone.place);
  expect((await kube.toldAt(name, 'instance.unhealthy'))! - notReadyAt).toBeLessThan(1_000);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  // Streams that had begun there report the cut in their last event, and are counted.
  const cut = lost(answers);
  expect(cut.length).toBeGreaterThan(0);
  expect(cut.filter(({ isExplained }) => !isExplained)).toEqual([]);
  expect(await kube.counted('attempts_total', `${name}-00001`, ',class="server_error"')).toBe(cut.length);
  const events = await kube.eventsOf(name);
  expect(events).toContain('instance.moved');
  expect(events).not.toContain('instance.crashed');
  expect((await kube.instancesOf(name)).map(({ restarts }) => restarts)).toEqual([0, 0]);
});

kubeIt('a node whose packets vanish loses no request whose answer had not begun', async () => {
  const { bed, namespace } = kube;
  const name = await kube.deployment();
  // The kubelet must not end an unresponsive pod: its connections would break.
  const probes = { failure_threshold: 20 };
  // Slow answers: so many are in progress that some wait at the silent instance, even on a fast machine.
  const slow = { args: { ttft_ms: 200, itl_ms: 20 } };
  await kube.rolledOut(name, specOn('cluster', 'm', { scaling: exactly(2), probes }, slow));
  const [gone] = await kube.instancesOf(name);
  const [pod] = await kube.podsOf([gone]);
  const engine = bed.kubelet.pidOf(namespace, pod!.metadata.name)!;
  const answers = await kube.underLoad(
    name,
    async () => {
      await bed.kubelet.silence(gone.place);
      // Its connections stay open, and no process answers.
      process.kill(engine, 'SIGSTOP');
      const areWaiting = async () => (await kube.instancesOf(name))[0].in_flight >= 5;
      await until('requests to wait there', areWaiting, AGAIN_MS);
      await until('it to run elsewhere', () => runsElsewhere(name, gone), AGAIN_MS, workerLog);
    },
    Infinity,
  );
  expect(isAlive(engine)).toBe(true);
  process.kill(engine, 'SIGCONT');
  bed.kubelet.wake(gone.place);
  expect(lost(answers)).toEqual([]);
  expect(await kube.counted('attempts_total', `${name}-00001`, ',class="connect_error"')).toBeGreaterThanOrEqual(5);
});

/**
 * Changes the unit of the first of two instances under load, as `change` does, and waits until `event` reports
 * it and both serve as `generations` says.
 */
async function underHands(
  target: KubeStackTarget,
  act: (unit: string) => Promise<unknown>,
  event: string,
  generations: number[],
) {
  const name = await kube.serving(2, target);
  const instances = await kube.instancesOf(name);
  const [unit] = await kube.unitsOf([instances[0]]);
  let doneAt = 0;
  const answers = await kube.underLoad(name, async () => {
    await act(unit!.metadata.name);
    // The time until the API server has answered is not our delay.
    doneAt = Date.now();
    const isMended = async () => {
      for (const { id } of instances) expect(await runningGenerations(id)).toBeLessThanOrEqual(1);
      if ((await kube.toldAt(name, event)) === undefined) return false;
      return (await generationsOf(name)).join() === generations.join() && (await statesOf(name)) === 'ready,ready';
    };
    await until(`${event}, and both to serve`, isMended, AGAIN_MS, workerLog);
  });
  expect(lost(answers)).toEqual([]);
  return { name, instances, toldAfterMs: (await kube.toldAt(name, event))! - doneAt };
}

/** Returns how many generations of an instance have a pod that may still run something, including a terminating one. */
async function runningGenerations(instanceId: string): Promise<number> {
  const options = { namespace: kube.namespace, labelSelector: `slipway.dev/instance=${instanceId}` };
  const { items } = await kube.bed.client.list<Pod>(PODS, options);
  const running = items.filter(({ status }) => !['Succeeded', 'Failed'].includes(status?.phase ?? ''));
  return new Set(running.map(({ metadata }) => metadata.labels?.['slipway.dev/generation'])).size;
}

const change = (unit: string, body: object) =>
  kube.bed.client.patch(DEPLOYMENTS, { namespace: kube.namespace, name: unit }, body);

kubeIt('a deleted unit is created again, as the next generation', async () => {
  const { client } = kube.bed;
  const remove = (unit: string) => client.remove(DEPLOYMENTS, { namespace: kube.namespace, name: unit });
  const { instances } = await underHands('cluster', remove, 'instance.moved', [2, 1]);
  const units = (await kube.unitsOf(instances)).map(({ metadata }) => metadata.labels?.['slipway.dev/generation']);
  expect(units.sort()).toEqual(['1', '2']);
});

kubeIt('a unit that was scaled by hand is reported, and continues to serve from one of its pods', async () => {
  const scale = (unit: string) => change(unit, { spec: { replicas: 3 } });
  const { name, instances, toldAfterMs } = await underHands('cluster', scale, 'instance.drifted', [1, 1]);
  expect(toldAfterMs).toBeLessThan(2_000);
  await until('the pods of others', async () => (await kube.podsOf(instances)).filter(isReady).length === 4, AGAIN_MS);
  const [first] = await kube.instancesOf(name);
  expect(first.drift).toContain('has 3 replicas');
  const [published] = await kube.stack.query(
    `select jsonb_array_length(instances::jsonb) as count from dataplane_backends where revision_name = $1`,
    [`${name}-00001`],
  );
  expect(published).toEqual({ count: 2 });
});

kubeIt('a unit whose image was edited is replaced if the operator wants that', async () => {
  const containers = [{ name: 'engine', image: 'test/sim:edited' }];
  const edit = (unit: string) => change(unit, { spec: { template: { spec: { containers } } } });
  const { name, instances, toldAfterMs } = await underHands('strict', edit, 'instance.drifted', [2, 1]);
  expect(toldAfterMs).toBeLessThan(2_000);
  const images = (await kube.podsOf(instances)).map(({ spec }) => spec.containers[0]!.image);
  expect(images).toEqual(['test/sim', 'test/sim']);
  expect((await kube.instancesOf(name)).map(({ drift }) => drift)).toEqual([null, null]);
});

kubeIt('the address of a deleted pod receives no request when another tenant owns it', async () => {
  const { stack, bed, namespace } = kube;
  const [engine, spec] = ['keyed', { scaling: exactly(1) }];
  const acme = stack.as((await stack.slipway().tenants.create({ name: 'acme' })).token!);
  const { deployments } = stack.as((await acme.tokens.create({ name: 'o', scopes: ['operator'] })).token!);
  await deployments.create({ name: 'theirs' });
  await deployments.rollouts.create('theirs', { spec: specOn('cluster', 'm', spec, { engine }) });
  const theirs = async () => (await deployments.instances.list('theirs')).data;
  await until('theirs to be ready', async () => (await theirs())[0]?.state === 'ready', AGAIN_MS);
  const name = await kube.serving(2, 'cluster', { engine });
  const [ours] = await kube.instancesOf(name);
  const [[unit], [pod], [other]] = await Promise.all([
    kube.unitsOf([ours]),
    kube.podsOf([ours]),
    kube.podsOf(await theirs()),
  ]);
  const address = pod!.status!.podIP!;

  const answers = await kube.underLoad(name, async () => {
    // Stopped, so that no worker notifies the gateway that the pod is gone.
    stack.signal('worker', 'SIGSTOP');
    await change(unit!.metadata.name, { spec: { replicas: 0 } });
    await until(
      'our pod to be gone',
      async () => !(await bed.client.find(PODS, { namespace, name: pod!.metadata.name })),
      AGAIN_MS,
    );
    bed.kubelet.reuse(address);
    await bed.client.remove(PODS, { namespace, name: other!.metadata.name });
    const isThere = (one: Pod) => isReady(one) && one.status?.podIP === address;
    await until('theirs at our address', async () => (await kube.podsOf(await theirs())).some(isThere), AGAIN_MS);
    await until('the gateway to have asked it', async () => (await answered(address, 401)) > 0, AGAIN_MS);
    const isAside = async () => (await kube.counted('ejected_instances', `${name}-00001`)) === 1;
    await until('it to stand aside', isAside, AGAIN_MS);
    expect(await answered(address, 200)).toBe(0);
    stack.signal('worker', 'SIGCONT');
    await until('both of ours to be ready', async () => (await statesOf(name)) === 'ready,ready', AGAIN_MS);
  });
  expect(lost(answers)).toEqual([]);
  await until('theirs to be ready', async () => (await theirs())[0]?.state === 'ready', AGAIN_MS);
  // The one request that proves theirs ready.
  expect(await answered(address, 200)).toBeLessThanOrEqual(1);
});

/** Returns how often the simulator at an address has answered with this status. */
async function answered(address: string, status: number): Promise<number> {
  const text = await (await fetch(`http://${address}:8000/metrics`)).text();
  const counts = [...text.matchAll(/^inference_sim_requests_total\{[^}]*status="(\d+)"\} (\d+)$/gm)];
  return counts.filter(([, told]) => told === String(status)).reduce((sum, [, , count]) => sum + Number(count), 0);
}

kubeIt("a revision's deleted Service and budget are created again", async () => {
  await until('both', async () => (await revisionObjects()).length === 2, REVISION_OBJECTS_MS);
  expect(await statesOf(bereft.name)).toBe('ready,ready');
  expect(await generationsOf(bereft.name)).toEqual([1, 1]);
});
