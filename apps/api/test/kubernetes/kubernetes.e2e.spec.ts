import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { PODS, workerRules } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { KubeStack, lost, specOn } from './kube-stack.js';
import { codeOf } from '../harness/refusals.js';
import { until } from '../harness/stack.js';

jest.setTimeout(240_000);

let kube: KubeStack;
beforeAll(async () => {
  if (hasKube) kube = await KubeStack.start({ nodes: [{ gpus: 8 }, {}] });
});
afterAll(() => kube?.stop());

kubeIt('runs a revision in a pod and serves it, rolls out and back, and removes the pods', async () => {
  const { stack } = kube;
  const { deployments } = stack.slipway();
  const name = await kube.deployment();
  expect(await kube.rolledOut(name, specOn('cluster', 'm-one'))).toBe(`${name}-00001`);
  const instances = await kube.instancesOf(name);
  const [instance] = instances;
  expect(await kube.podsOf(instances)).toHaveLength(1);
  expect(instance).toMatchObject({
    state: 'ready',
    target: 'cluster',
    place: expect.any(String),
    restarts: 0,
    drift: null,
    generation: 1,
  });
  const logs = await deployments.instances.logs(name, instance.id, { tail: 5 });
  expect(await logs.text()).toContain('inference-sim');

  expect(await kube.rolledOut(name, specOn('cluster', 'm-two'))).toBe(`${name}-00002`);
  const back = await deployments.rollbacks.create(name);
  expect(await stack.operation(back.operation.id, undefined, 120_000)).toMatchObject({ status: 'succeeded' });
  await kube.serves(name, `${name}-00001`);

  const all = await kube.instancesOf(name);
  await deployments.delete(name);
  await until('its pods to be gone', async () => (await kube.podsOf(all)).length === 0, 60_000);
});

/** Removes one of two pods under load, and waits for its replacement. */
async function replacesOne(remove: (pod: string) => Promise<unknown>): Promise<{ restarts: number; events: string[] }> {
  const name = await kube.serving(2);
  const instances = await kube.instancesOf(name);
  const before = await kube.podsOf(instances);
  expect(before).toHaveLength(2);
  const { uid, name: pod } = before[0]!.metadata;
  const answers = await kube.underLoad(name, async () => {
    await remove(pod);
    const isReplaced = async () => {
      const pods = await kube.podsOf(instances);
      const states = (await kube.instancesOf(name)).map(({ state }) => state);
      return pods.length === 2 && pods.every(({ metadata }) => metadata.uid !== uid) && states.join() === 'ready,ready';
    };
    await until('another pod in its place', isReplaced, 60_000, () => kube.stack.logOf('worker'));
  });
  expect(lost(answers)).toEqual([]);
  const after = await kube.instancesOf(name);
  expect(after.map(({ generation }) => generation)).toEqual([1, 1]);
  return { restarts: after.reduce((sum, one) => sum + one.restarts, 0), events: await kube.eventsOf(name) };
}

kubeIt('loses no request while a pod is evicted, which is no crash', async () => {
  const { restarts, events } = await replacesOne((pod) => kube.bed.client.evict(kube.namespace, pod));
  expect(restarts).toBe(0);
  expect(events).toContain('instance.moved');
  expect(events).not.toContain('instance.crashed');
});

kubeIt('loses no request when a pod is deleted by hand, which is no crash', async () => {
  const { bed, namespace } = kube;
  const { restarts, events } = await replacesOne((name) => bed.client.remove(PODS, { namespace, name }));
  expect(restarts).toBe(0);
  expect(events).toContain('instance.moved');
  expect(events).not.toContain('instance.crashed');
});

kubeIt('serves requests whose answer had not begun when an engine dies, and its kubelet restarts it', async () => {
  const name = await kube.serving(2, 'cluster', { args: { ttft_ms: 10, itl_ms: 200 } });
  const instances = await kube.instancesOf(name);
  const [pod] = await kube.podsOf(instances.slice(0, 1));
  const restarts = async () => (await kube.instancesOf(name)).map((one) => one.restarts);
  const answers = await kube.underLoad(name, async () => {
    const isBusy = async () => (await kube.instancesOf(name))[0].in_flight >= 10;
    await until('it to have requests in flight', isBusy, 30_000);
    kube.bed.kubelet.crash(kube.namespace, pod!.metadata.name);
    await until('the crash to be counted', async () => (await restarts()).includes(1), 30_000);
    const states = async () => (await kube.instancesOf(name)).map(({ state }) => state).join();
    await until('both to be ready', async () => (await states()) === 'ready,ready', 30_000);
  });
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  // Streams that had begun there report the cut in their last event, and are counted.
  const cut = lost(answers);
  expect(cut.length).toBeGreaterThan(0);
  expect(cut.filter(({ isExplained }) => !isExplained)).toEqual([]);
  expect(await kube.counted('attempts_total', `${name}-00001`, ',class="server_error"')).toBe(cut.length);
  expect((await kube.instancesOf(name)).map(({ generation }) => generation)).toEqual([1, 1]);
});

kubeIt('moves a deployment from processes to pods and back without a lost request', async () => {
  const name = await kube.deployment();
  const served = [await kube.rolledOut(name, specOn('local', 'm-move'))];
  const answers = await kube.underLoad(name, async () => {
    for (const target of ['cluster', 'local'] as const)
      served.push(await kube.rolledOut(name, specOn(target, 'm-move')));
  });
  expect(lost(answers)).toEqual([]);
  expect(new Set(answers.map(({ revision }) => revision))).toEqual(new Set(served));
  expect(new Set(served).size).toBeGreaterThan(1);
});

kubeIt('reports in the words of the cluster why a revision cannot run', async () => {
  const { stack } = kube;
  const name = await kube.deployment();
  const instance = async () => (await kube.instancesOf(name))[0];
  const first = await kube.begin(name, {
    spec: { model: { id: 'm' }, runtime: { target: 'cluster', engine: 'absent' } },
  });
  await until('the reason', async () => (await instance())?.reason === 'image_pull_failed');
  expect((await instance()).message).toContain('test/absent');
  await stack.slipway().operations.cancel(first);
  expect(await stack.operation(first)).toMatchObject({ status: 'cancelled' });

  const large = (count: number) => ({
    model: { id: 'm' },
    runtime: { target: 'cluster', engine: 'large' },
    resources: { accelerator: 'gpu', count },
  });
  const second = await kube.begin(name, { spec: large(64), progress_deadline_seconds: 10 });
  expect(await stack.operation(second)).toMatchObject({
    status: 'failed',
    error_code: 'capacity_exhausted',
    retryable: true,
    message: expect.stringContaining('nvidia.com/gpu'),
  });
  expect(await codeOf(stack.rollOut(name, { spec: large(65) }))).toBe('422 validation_failed');
});

kubeIt('names a missing right, does not touch running units, and continues when the right is granted', async () => {
  const name = await kube.serving(1);
  const rules = workerRules();
  await kube.granted.allow(
    rules.map((rule) => ({ ...rule, verbs: rule.verbs.filter((verb) => verb !== 'create' || !isOfUnits(rule)) })),
  );
  await until('the target to be degraded', async () => (await kube.target()).status === 'degraded');
  const [{ type, message }] = (await kube.target()).conditions;
  expect([type, message]).toEqual(['degraded', expect.stringMatching(/create deployments/)]);
  const waiting = await kube.begin(name, { spec: specOn('cluster', 'm-wait'), strategy: { type: 'immediate' } });
  const reasons = async () => (await kube.instancesOf(name)).map(({ reason }) => reason);
  await until('it to wait', async () => (await reasons()).includes('target_unavailable'));
  expect((await kube.chat(name)).status).toBe(200);

  await kube.granted.allow(rules);
  await until('the target to be well', async () => (await kube.target()).status === 'ok');
  expect(await kube.stack.operation(waiting, undefined, 120_000)).toMatchObject({ status: 'succeeded' });
  await kube.serves(name, `${name}-00002`);
});

const isOfUnits = ({ apiGroups }: { apiGroups: readonly string[] }) => apiGroups.includes('apps');
