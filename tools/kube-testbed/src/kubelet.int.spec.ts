import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { deploy, engine, nameOf, restartsOf, scale, text, waits } from '../test/units.js';
import { hasKube, kubeIt } from './kube-tests.js';
import { DEPLOYMENTS, PODS, RESOURCE_QUOTAS, type Pod } from './objects.js';
import { isReady, TestBed } from './test-bed.js';
import { eventually } from './waiting.js';

jest.setTimeout(180_000);

let bed: TestBed;
beforeAll(async () => {
  if (hasKube) bed = await TestBed.open();
});
afterAll(() => bed?.close());

const gone = (namespace: string) =>
  eventually('its pods are gone', async () => (await bed.client.list(PODS, { namespace })).items.length === 0);

kubeIt('runs init containers in order, and repeats one that fails', async () => {
  const namespace = await bed.namespace();
  const initContainers = [
    { name: 'first', image: 'test/done' },
    { name: 'second', image: 'test/crash' },
  ];
  await deploy(bed, namespace, engine(), { initContainers });
  const isStuck = (pod: Pod): boolean => pod.status?.['initContainerStatuses']?.[1]?.restartCount >= 2;
  const pod = await bed.pod(namespace, 'stuck in its second', isStuck);
  expect(pod.status?.['initContainerStatuses'][0]).toMatchObject({
    ready: true,
    state: { terminated: { exitCode: 0, reason: 'Completed' } },
  });
  expect(pod.status?.phase).toBe('Pending');
  expect(waits('PodInitializing')(pod)).toBe(true);
  expect(await bed.client.log(namespace, nameOf(pod), { container: 'first' })).toBe('done\n');
  bed.kubelet.images.set('test/crash', bed.kubelet.images.get('test/done')!);
  await bed.pod(namespace, 'ready', isReady);
});

kubeIt('reuses the address of a pod only if a test requests it', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine());
  const one = await bed.pod(namespace, 'ready', isReady);
  await scale(bed, namespace, 0);
  await gone(namespace);
  await scale(bed, namespace, 1);
  const two = await bed.pod(namespace, 'ready', isReady);
  expect(two.status?.podIP).not.toBe(one.status?.podIP);
  await scale(bed, namespace, 0);
  await gone(namespace);
  bed.kubelet.reuse(one.status?.podIP as string);
  await scale(bed, namespace, 1);
  const three = await bed.pod(namespace, 'ready', isReady);
  expect(three.status?.podIP).toBe(one.status?.podIP);
  expect(JSON.parse(await text(three, '/health'))).toMatchObject({ status: 'ok' });
});

kubeIt('ends the process of a pod that is deleted by force', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine({ image: 'test/stubborn' }));
  const pod = await bed.pod(namespace, 'ready', isReady);
  const pid = bed.kubelet.pidOf(namespace, nameOf(pod)) as number;
  await bed.client.remove(PODS, { namespace, name: nameOf(pod) }, { graceSeconds: 0 });
  await eventually('its process is gone', () => {
    try {
      process.kill(pid, 0);
      return false;
    } catch {
      return true;
    }
  });
});

kubeIt('moves pods off a node that is removed', async () => {
  const namespace = await bed.namespace();
  await bed.kubelet.addNode();
  await deploy(bed, namespace, engine());
  const pod = await bed.pod(namespace, 'ready', isReady);
  const node = pod.spec.nodeName as string;
  await bed.kubelet.removeNode(node);
  const other = await bed.pod(namespace, 'ready elsewhere', (one) => isReady(one) && one.spec.nodeName !== node);
  expect(other.metadata.uid).not.toBe(pod.metadata.uid);
});

kubeIt('enforces the quota of a namespace, and continues when it is raised', async () => {
  const namespace = await bed.namespace();
  const hard = { 'requests.nvidia.com/gpu': '0', pods: '0' };
  await bed.client.create(RESOURCE_QUOTAS, { metadata: { name: 'none', namespace }, spec: { hard } });
  await eventually('the quota holds', async () => {
    const quota = await bed.client.get(RESOURCE_QUOTAS, { namespace, name: 'none' });
    return quota['status']?.hard?.pods === '0';
  });
  await deploy(bed, namespace, engine());
  const failure = await eventually('the Deployment says so', async () => {
    const found = await bed.client.get(DEPLOYMENTS, { namespace, name: 'unit' });
    const conditions: { type: string; message: string }[] = found['status']?.conditions ?? [];
    return conditions.find(({ type }) => type === 'ReplicaFailure');
  });
  expect(failure.message).toContain('exceeded quota: none');
  await bed.client.merge(RESOURCE_QUOTAS, { namespace, name: 'none' }, { spec: { hard: { pods: '5' } } });
  await bed.pod(namespace, 'ready', isReady, 60_000);
});

kubeIt('counts restarts of only one container while the pod exists', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine(), {
    containers: [engine(), { name: 'beside', image: 'test/talk', args: ['--port', '8001'] }],
  });
  const pod = await bed.pod(namespace, 'ready', isReady);
  bed.kubelet.crash(namespace, nameOf(pod), 'beside');
  const again = await bed.pod(
    namespace,
    'ready again',
    (one) => isReady(one) && one.status?.containerStatuses?.[1]?.restartCount === 1,
  );
  expect([again.metadata.uid, restartsOf(again)]).toEqual([pod.metadata.uid, 0]);
});
