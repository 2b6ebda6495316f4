import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { deploy, engine, nameOf, restartsOf, text } from '../test/units.js';
import { KubeClient, KubeError } from './client.js';
import { ControlPlane } from './control-plane.js';
import { hasKube, kubeIt } from './kube-tests.js';
import { CONFIG_MAPS, DEPLOYMENTS, NAMESPACES, PODS, SECRETS } from './objects.js';
import { grant, workerRules } from './service-account.js';
import { programs } from './test-plane.js';
import { SwallowingProxy } from './swallowing-proxy.js';
import { isReady, TestBed } from './test-bed.js';
import { eventually } from './waiting.js';

jest.setTimeout(180_000);

let plane: ControlPlane;
let client: KubeClient;

beforeAll(async () => {
  if (!hasKube) return;
  // Without a watch cache, so that a compaction takes effect.
  plane = await ControlPlane.start({ bin: programs(), watchCache: false });
  client = plane.client();
});
afterAll(async () => {
  await client?.close();
  await plane?.stop();
  if (plane) expect(existsSync(plane.folder)).toBe(false);
});

kubeIt('the control plane reports the Kubernetes version it was built from, to kubectl too', async () => {
  const { gitVersion } = JSON.parse(await client.raw('GET', '/version')) as { gitVersion: string };
  expect(gitVersion).toMatch(/^v1\.36\.\d+$/);
  const kubectl = path.join(plane.access.bin, 'kubectl');
  const said = execFileSync(kubectl, ['--kubeconfig', plane.access.kubeconfig, 'get', 'namespaces', '-o', 'name']);
  expect(String(said)).toContain('namespace/kube-system');
});

kubeIt('a ServiceAccount has exactly the rights of its Role', async () => {
  await client.create(NAMESPACES, { metadata: { name: 'roles' } });
  const file = path.join(plane.folder, 'worker.kubeconfig');
  const granted = await grant(client, plane.access, {
    name: 'worker',
    namespaces: ['roles'],
    rules: workerRules(),
    file,
  });
  const worker = new KubeClient(plane.access, granted.token);
  expect((await worker.list(DEPLOYMENTS, { namespace: 'roles' })).items).toEqual([]);
  const refused = { status: 403, reason: 'Forbidden', message: expect.stringContaining('cannot list resource') };
  await expect(worker.list(SECRETS, { namespace: 'roles' })).rejects.toMatchObject(refused);
  await expect(worker.list(DEPLOYMENTS, { namespace: 'default' })).rejects.toMatchObject(refused);
  await granted.allow(workerRules().filter(({ resources }) => !resources.includes('pods')));
  await eventually('pods are forbidden', () =>
    worker.list(PODS, { namespace: 'roles' }).then(
      () => false,
      (error: unknown) => (error as KubeError).status === 403,
    ),
  );
  expect((await worker.list(DEPLOYMENTS, { namespace: 'roles' })).items).toEqual([]);
  await worker.close();
});

kubeIt('a watch from a compacted version ends with an error', async () => {
  const { resourceVersion } = await client.list(CONFIG_MAPS, { namespace: 'default' });
  for (const name of ['one', 'two']) await client.create(CONFIG_MAPS, { metadata: { name, namespace: 'default' } });
  await plane.compact();
  const watch = client.watch(CONFIG_MAPS, {
    namespace: 'default',
    resourceVersion,
    signal: AbortSignal.timeout(20_000),
  });
  await expect(watch.next()).rejects.toMatchObject({ status: 410, reason: 'Expired' });
});

kubeIt('the API server answers again after a pause', async () => {
  plane.pause();
  const asked = client.list(CONFIG_MAPS, { namespace: 'default' });
  await expect(Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 1_000, 'silent'))])).resolves.toBe(
    'silent',
  );
  plane.resume();
  expect((await asked).items.map(({ metadata }) => metadata.name)).toContain('one');
});

kubeIt('the proxy drops traffic silently, and passes new connections', async () => {
  const proxy = await SwallowingProxy.start(plane.access.server);
  const through = new KubeClient({ ...plane.access, server: proxy.server }, plane.access.token);
  expect(await through.raw('GET', '/readyz')).toBe('ok');
  proxy.swallow();
  const lost = through.raw('GET', '/readyz').catch(() => 'cut');
  await expect(Promise.race([lost, new Promise((resolve) => setTimeout(resolve, 500, 'silent'))])).resolves.toBe(
    'silent',
  );
  proxy.pass();
  const anew = new KubeClient({ ...plane.access, server: proxy.server }, plane.access.token);
  expect(await anew.raw('GET', '/readyz')).toBe('ok');
  proxy.cut();
  expect(await lost).toBe('cut');
  await proxy.stop();
  await Promise.all([through.close(), anew.close()]);
});

kubeIt('pods keep running while the API server is down, and it learns of changes afterwards', async () => {
  const bed = await TestBed.open({ access: plane.access });
  const namespace = await bed.namespace();
  await deploy(bed, namespace, engine());
  const pod = await bed.pod(namespace, 'ready', isReady);
  await plane.killApiServer();
  bed.kubelet.crash(namespace, nameOf(pod));
  await eventually('it serves again', async () => (await text(pod, '/health')).includes('ok'));
  await plane.startApiServer();
  const told = await bed.pod(namespace, 'ready again', (one) => isReady(one) && restartsOf(one) === 1);
  expect(told.metadata.uid).toBe(pod.metadata.uid);
  // The new watch also reports what is deleted after the old one was lost.
  await bed.client.remove(PODS, { namespace, name: nameOf(pod) });
  await bed.pod(namespace, 'another one', (one) => isReady(one) && one.metadata.uid !== pod.metadata.uid);
  await bed.close();
});

kubeIt('a restart after a kill keeps all objects, and a loss of etcd removes them', async () => {
  await plane.killApiServer();
  await expect(client.raw('GET', '/readyz')).rejects.toThrow('ECONNREFUSED');
  await plane.startApiServer();
  const named = async (): Promise<(string | undefined)[]> =>
    (await client.list(CONFIG_MAPS, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
  expect(await named()).toEqual(expect.arrayContaining(['one', 'two']));
  await plane.restart('kept');
  expect(await named()).toEqual(expect.arrayContaining(['one', 'two']));
  await plane.restart('emptied');
  expect(await named()).not.toContain('one');
  expect(await client.find(NAMESPACES, { name: 'roles' })).toBeUndefined();
});
