import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { KubeError } from './client.js';
import { kubeIt, hasKube } from './kube-tests.js';
import { DEPLOYMENTS, DISRUPTION_BUDGETS, EVENTS, PODS, SECRETS, type ContainerSpec, type Pod } from './objects.js';
import { deploy, engine, lastOf, liveness, nameOf, restartsOf, scale, stateOf, text, waits } from '../test/units.js';
import { isReady, TestBed } from './test-bed.js';
import { eventually } from './waiting.js';

jest.setTimeout(180_000);

let bed: TestBed;
beforeAll(async () => {
  if (hasKube) bed = await TestBed.open({ nodes: [{ gpus: 8 }, {}] });
});
afterAll(() => bed?.close());

kubeIt('runs a Deployment’s pod as a process that answers at the pod’s address', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine());
  const pod = await bed.pod(namespace, 'ready', isReady);
  expect(pod.status?.podIP).toMatch(/^127\.77\.\d+\.\d+$/);
  expect(pod.status).toMatchObject({ phase: 'Running', hostIP: bed.kubelet.address });
  expect(JSON.parse(await text(pod, '/health'))).toMatchObject({ status: 'ok' });
  await eventually('the Deployment counts it', async () => {
    const found = await bed.client.get(DEPLOYMENTS, { namespace, name: 'unit' });
    return found['status']?.readyReplicas === 1;
  });

  const pid = bed.kubelet.pidOf(namespace, nameOf(pod)) as number;
  await scale(bed, namespace, 0);
  await eventually('the pod is gone', async () => (await bed.client.list(PODS, { namespace })).items.length === 0);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

kubeIt('expands variables and secrets as a kubelet does', async () => {
  const namespace = await bed.namespace();
  const env = [
    { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'hf', key: 'token' } } },
    { name: 'DOUBLED', value: '$$(TOKEN)' },
  ];
  const argv = ['echo', '--host', '0.0.0.0', '--a=$(TOKEN)', '--b=$$(TOKEN)', ';id', '"\n'];
  await deploy(bed, namespace, engine({ image: 'test/echo', command: argv, env }));
  const waiting = await bed.pod(namespace, 'without its secret', waits('CreateContainerConfigError'));
  expect(stateOf(waiting).waiting.message).toBe('secret "hf" not found');
  await bed.client.create(SECRETS, { metadata: { name: 'hf', namespace }, stringData: { token: 'hf_1' } });
  const pod = await bed.pod(namespace, 'ready', isReady);
  const said = JSON.parse(await text(pod, '/')) as { argv: string[]; env: Record<string, string> };
  expect(said.argv.slice(3)).toEqual(['--a=hf_1', '--b=$(TOKEN)', ';id', '"\n']);
  expect(Object.keys(said.env).sort()).toEqual(['DOUBLED', 'PATH', 'TOKEN']);
  expect(said.env).toMatchObject({ TOKEN: 'hf_1', DOUBLED: '$(TOKEN)' });
});

kubeIt('reports an absent image, and continues when it is available', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine({ image: 'test/later' }));
  await bed.pod(namespace, 'without image', waits('ErrImagePull'));
  const pod = await bed.pod(namespace, 'backing off', waits('ImagePullBackOff'));
  expect(stateOf(pod).waiting.message).toContain('Back-off pulling image "test/later"');
  expect(pod.status?.phase).toBe('Pending');
  bed.kubelet.images.set('test/later', bed.kubelet.images.get('test/sim')!);
  await bed.pod(namespace, 'ready', isReady);
});

for (const [image, exitCode, reason, output] of [
  ['test/oom', 137, 'OOMKilled', 'loading 48 GiB of weights\n'],
  ['test/crash', 3, 'Error', 'loading\ncannot load the model: bad magic\n'],
] as const)
  kubeIt(`${image} ends with ${exitCode}, ${reason}, and restarts with growing delays`, async () => {
    const namespace = await bed.namespace();
    await deploy(bed, namespace, engine({ image }));
    const isLooping = (pod: Pod) => waits('CrashLoopBackOff')(pod) && restartsOf(pod) >= 2;
    const pod = await bed.pod(namespace, 'crashing', isLooping);
    expect(lastOf(pod)).toMatchObject({ exitCode, reason });
    expect(stateOf(pod).waiting.message).toMatch(/^back-off \d+s restarting failed container=engine pod=unit-/);
    const previous = await eventually('its last output', () =>
      bed.client.log(namespace, nameOf(pod), { previous: true, container: 'engine' }),
    );
    expect(previous.split('\n').sort()).toEqual(output.split('\n').sort());
  });

kubeIt('serves logs through the API server: the last lines, and new ones', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine({ image: 'test/talk', args: ['--lines', '300'] }));
  const pod = await bed.pod(namespace, 'ready', isReady);
  const tail = await bed.client.log(namespace, nameOf(pod), { tailLines: 3 });
  expect(tail).toBe('line 299\nline 300\nlistening\n');
  expect((await bed.client.log(namespace, nameOf(pod))).split('\n')).toHaveLength(302);
  expect(await bed.client.log(namespace, nameOf(pod), { tailLines: 1, timestamps: true })).toMatch(
    /^\d.*Z listening\n$/,
  );
  const refused = bed.client.log(namespace, nameOf(pod), { previous: true });
  await expect(refused).rejects.toThrow('previous terminated container "engine"');
});

kubeIt('counts a crash within the pod, and a probe that fails', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine({ livenessProbe: liveness }));
  const pod = await bed.pod(namespace, 'ready', isReady);
  bed.kubelet.crash(namespace, nameOf(pod));
  const again = await bed.pod(namespace, 'ready again', (one) => isReady(one) && restartsOf(one) === 1);
  expect(again.metadata.uid).toBe(pod.metadata.uid);
  expect(lastOf(again)).toMatchObject({ exitCode: 137, reason: 'Error' });
  // A stopped process answers nothing, so the liveness probe ends it.
  process.kill(bed.kubelet.pidOf(namespace, nameOf(pod)) as number, 'SIGSTOP');
  await bed.pod(namespace, 'not ready', (one) => !isReady(one));
  await bed.pod(namespace, 'ready a third time', (one) => isReady(one) && restartsOf(one) === 2);
});

kubeIt('leaves a pod pending that requests more accelerators than there are', async () => {
  const namespace = await bed.namespace();
  const resources = { limits: { 'nvidia.com/gpu': '9' } };
  await deploy(bed, namespace, { ...engine(), resources } as ContainerSpec);
  const pod = await bed.pod(namespace, 'unschedulable', ({ status }) =>
    status?.conditions?.some(({ reason }) => reason === 'Unschedulable'),
  );
  expect(pod.status?.conditions?.[0]?.message).toContain('Insufficient nvidia.com/gpu');
});

kubeIt('evicts a pod with a reason and within its grace period, unless a budget forbids it', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine({ lifecycle: { preStop: { sleep: { seconds: 60 } } } }), {
    terminationGracePeriodSeconds: 80,
  });
  const pod = await bed.pod(namespace, 'ready', isReady);
  await bed.client.create(DISRUPTION_BUDGETS, {
    metadata: { name: 'unit', namespace },
    spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'unit' } } },
  });
  await eventually('the budget is counted', () =>
    bed.client.evict(namespace, nameOf(pod)).then(
      () => Promise.reject(new Error('it was evicted')),
      (error: unknown) =>
        (error as KubeError).status === 429 && (error as KubeError).message.includes('disruption budget'),
    ),
  );
  await bed.client.remove(DISRUPTION_BUDGETS, { namespace, name: 'unit' });
  await eventually('it may go', () => bed.client.evict(namespace, nameOf(pod)).then(() => true));
  const leaving = await bed.client.get<Pod>(PODS, { namespace, name: nameOf(pod) });
  expect(leaving.metadata.deletionTimestamp).toBeDefined();
  expect(leaving.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }),
  );
  // During preStop, it still answers.
  expect(JSON.parse(await text(pod, '/health'))).toMatchObject({ status: 'ok' });
  await bed.pod(namespace, 'another one', (one) => isReady(one) && one.metadata.uid !== pod.metadata.uid);
});

kubeIt('replaces the pods of an unreachable node, and accepts the node again', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine());
  const pod = await bed.pod(namespace, 'ready', isReady);
  const node = pod.spec.nodeName as string;
  await bed.kubelet.silence(node);
  const other = await bed.pod(
    namespace,
    'ready elsewhere',
    (one) => isReady(one) && one.metadata.uid !== pod.metadata.uid,
    60_000,
  );
  expect(other.spec.nodeName).not.toBe(node);
  const left = await bed.client.get<Pod>(PODS, { namespace, name: nameOf(pod) });
  expect(left.metadata.deletionTimestamp).toBeDefined();
  expect(left.status?.conditions).toContainEqual(
    expect.objectContaining({ type: 'DisruptionTarget', reason: 'DeletionByTaintManager' }),
  );
  // Its process continues, as after a network failure, until the node is reachable again.
  expect(JSON.parse(await text(pod, '/health'))).toMatchObject({ status: 'ok' });
  bed.kubelet.wake(node);
  await eventually('it is gone', async () => !(await bed.client.find(PODS, { namespace, name: nameOf(pod) })), 60_000);
});

kubeIt('kills a process that ignores SIGTERM after its grace period', async () => {
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine({ image: 'test/stubborn' }), { terminationGracePeriodSeconds: 20 });
  const pod = await bed.pod(namespace, 'ready', isReady);
  await scale(bed, namespace, 0);
  await eventually('the pod is gone', async () => !(await bed.client.find(PODS, { namespace, name: nameOf(pod) })));
});

kubeIt('reports the message of Pod Security for a pod that it refuses', async () => {
  const namespace = await bed.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  await deploy(bed, namespace, engine());
  const refused = await eventually('an event of the refusal', async () => {
    const { items } = await bed.client.list(EVENTS, { namespace });
    return items.find((event) => event['reason'] === 'FailedCreate');
  });
  expect(refused['message']).toContain('violates PodSecurity "restricted');
});
