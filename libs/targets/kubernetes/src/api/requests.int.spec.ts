import { afterAll, beforeAll, expect } from '@jest/globals';
import { TestBed, type GrantedAccess } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { readCluster } from './cluster.js';
import { ApiError } from './errors.js';
import { DEPLOYMENTS, LEADER_WORKER_SETS, PDBS, PODS, SECRETS, SERVICES } from './kinds.js';
import type { Deployment, PodDisruptionBudget, Secret, Service } from './objects.js';
import { Reflector } from './reflector.js';
import { KubeApi } from './requests.js';

/** Sends the same calls to a real API server as to the stub, under a worker's Role. */
let bed: TestBed;
let granted: GrantedAccess;
let api: KubeApi;
/** Has every right, because a worker's Role does not have every verb that the client has. */
let admin: KubeApi;
let ns: string;

beforeAll(async () => {
  if (!hasKube) return;
  bed = await TestBed.open({ nodes: [{}] });
  ns = await bed.namespace();
  granted = await bed.grant([ns]);
  api = new KubeApi(readCluster({ kubeconfig: granted.kubeconfig }));
  admin = new KubeApi(readCluster({ kubeconfig: bed.access.kubeconfig }));
}, 120_000);
afterAll(async () => {
  await api?.close();
  await admin?.close();
  await bed?.close();
});

const labels = (name: string): Record<string, string> => ({ app: name, by: 'requests' });

function unit(name: string, more: Record<string, unknown> = {}): Deployment {
  return {
    metadata: { name, labels: labels(name) },
    spec: {
      replicas: 1,
      strategy: { type: 'Recreate' },
      selector: { matchLabels: labels(name) },
      template: {
        metadata: { labels: labels(name) },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [{ name: 'engine', image: 'test/talk', command: ['talk', '--lines', '50', '--port', '8000'] }],
        },
      },
      ...more,
    },
  };
}

const refused = (run: Promise<unknown>): Promise<ApiError> =>
  run.then(
    () => Promise.reject(new Error('was not refused')),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ApiError);
      return error as ApiError;
    },
  );

async function until(isSo: () => unknown, withinMs = 30_000): Promise<void> {
  for (const end = Date.now() + withinMs; !(await isSo()); await new Promise((done) => setTimeout(done, 25)))
    if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${isSo}`);
}

const textOf = async (pieces: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const piece of pieces) chunks.push(piece);
  return Buffer.concat(chunks).toString();
};

kubeIt('a unit is created once, stopped by an apply, and deleted by its uid', async () => {
  expect(await api.version()).toMatch(/^v1\.\d+\.\d+/);
  const made = await api.create<Deployment>(DEPLOYMENTS, ns, unit('once'));
  expect(made.metadata).toMatchObject({ name: 'once', uid: expect.any(String), generation: 1 });
  expect(made.metadata.managedFields).toBeUndefined();
  expect(await refused(api.create(DEPLOYMENTS, ns, unit('once')))).toMatchObject({
    status: 409,
    reason: 'AlreadyExists',
  });
  const stop = (name: string) =>
    api.apply<Deployment>(
      DEPLOYMENTS,
      ns,
      { metadata: { name, annotations: { 'slipway.dev/stopped-at': 'now' } }, spec: { replicas: 0 } },
      { manager: 'slipway-stop', force: true },
    );
  expect(await stop('once')).toMatchObject({ spec: { replicas: 0 }, metadata: { generation: 2 } });
  expect(await refused(stop('never'))).toMatchObject({ status: 422, reason: 'Invalid' });
  await api.delete(DEPLOYMENTS, ns, 'once', { uid: '00000000-0000-0000-0000-000000000000' });
  expect(await admin.get(DEPLOYMENTS, ns, 'once')).toBeDefined();
  await api.delete(DEPLOYMENTS, ns, 'once', { uid: made.metadata.uid });
  expect(await admin.get(DEPLOYMENTS, ns, 'once')).toBeUndefined();
  await api.delete(DEPLOYMENTS, ns, 'once', { uid: made.metadata.uid });
});

kubeIt('an unknown field or a refused value is an error with the field’s name', async () => {
  const typo = await refused(api.create(DEPLOYMENTS, ns, unit('typo', { replcias: 1 })));
  expect(typo).toMatchObject({ status: 400, message: expect.stringContaining('unknown field "spec.replcias"') });
  const wrong = await refused(api.create(DEPLOYMENTS, ns, unit('wrong', { replicas: -1 })));
  expect(wrong).toMatchObject({ status: 422, reason: 'Invalid', isRetryable: false });
  expect(wrong.details.causes?.map(({ field }) => field)).toContain('spec.replicas');
});

kubeIt('an apply removes fields that it leaves out, and keeps fields that others have set', async () => {
  const ours = { manager: 'slipway', force: true };
  const service = (ports?: { port: number }[]) => ({
    metadata: { name: 'shared', labels: labels('shared') },
    spec: { clusterIP: 'None', ...(ports && { ports }) },
  });
  await api.apply<Service>(SERVICES, ns, service([{ port: 8000 }]), ours);
  const services = { api: 'v1', plural: 'services' };
  await bed.client.merge(
    services,
    { namespace: ns, name: 'shared' },
    { metadata: { annotations: { by: 'somebody' } } },
  );
  const second = await api.apply<Service>(SERVICES, ns, service(), ours);
  expect(second.spec?.ports).toBeUndefined();
  expect(second.metadata.annotations).toEqual({ by: 'somebody' });
  const third = await api.apply<Service>(SERVICES, ns, service(), ours);
  expect(third.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
  const taken = api.apply(SERVICES, ns, service([{ port: 1 }]), { manager: 'another', force: false });
  await expect(taken).resolves.toBeDefined();
  const conflict = api.apply(
    SERVICES,
    ns,
    { metadata: { name: 'shared', labels: { app: 'x' } } },
    { manager: 'm', force: false },
  );
  expect(await refused(conflict)).toMatchObject({ status: 409, reason: 'Conflict', isRetryable: true });
  const budget = {
    metadata: { name: 'shared' },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels('shared') } },
  };
  expect((await api.apply<PodDisruptionBudget>(PDBS, ns, budget, ours)).spec?.maxUnavailable).toBe(1);
  const secret: Secret = { metadata: { name: 'shared' }, immutable: true, stringData: { key: 'value' } };
  expect((await api.create<Secret>(SECRETS, ns, secret)).data).toEqual({
    key: Buffer.from('value').toString('base64'),
  });
});

kubeIt(
  'a list has pages that show one moment, and a watch continues from there',
  async () => {
    const many = await bed.namespace();
    const rules = await bed.grant([many]);
    const there = new KubeApi(readCluster({ kubeconfig: rules.kubeconfig }));
    // No node can run it: only the objects count.
    const pod = (n: number) => ({
      metadata: { name: `p${n}`, namespace: many, labels: { half: String(n % 2) } },
      spec: { nodeSelector: { none: 'such' }, containers: [{ name: 'c', image: 'test/absent' }] },
    });
    await Promise.all(Array.from({ length: 620 }, (_, n) => admin.create(PODS, many, pod(n))));
    const all = await there.list(PODS, many);
    expect(new Set(all.items.map(({ metadata }) => metadata.name)).size).toBe(620);
    expect((await there.list(PODS, many, { labelSelector: 'half=1' })).items).toHaveLength(310);
    expect((await there.list(PODS, many, { limit: 1 })).items).toHaveLength(1);
    const troubles: unknown[] = [];
    const reflector = new Reflector(there, {
      kind: PODS,
      namespace: many,
      labelSelector: 'half=1',
      onTrouble: (error) => troubles.push(error),
    });
    reflector.start();
    await until(() => reflector.isSynced);
    expect([...reflector.values()]).toHaveLength(310);
    await admin.delete(PODS, many, 'p1', { graceSeconds: 0 });
    const halve = (name: string, half: string) =>
      bed.client.merge({ api: 'v1', plural: 'pods' }, { namespace: many, name }, { metadata: { labels: { half } } });
    await halve('p3', '0');
    await halve('p4', '1');
    await until(() => !reflector.get('p1') && !reflector.get('p3') && reflector.get('p4'));
    expect([[...reflector.values()].length, troubles]).toEqual([309, []]);
    await reflector.close();
    await there.close();
  },
  120_000,
);

kubeIt('a write is shown before the watch reports it, and then the watch takes over', async () => {
  const changes: string[] = [];
  const reflector = new Reflector<Deployment>(api, {
    kind: DEPLOYMENTS,
    namespace: ns,
    labelSelector: 'app=shown',
    onChange: (before, after) => changes.push(`${before ? 'was' : 'new'} ${after ? 'is' : 'gone'}`),
  });
  reflector.start();
  await until(() => reflector.isSynced);
  const made = await api.create<Deployment>(DEPLOYMENTS, ns, unit('shown', { replicas: 0 }));
  reflector.remember(made);
  expect(reflector.get('shown')?.metadata.uid).toBe(made.metadata.uid);
  await until(() => reflector.get('shown')?.status?.observedGeneration === 1);
  await api.delete(DEPLOYMENTS, ns, 'shown', { uid: made.metadata.uid });
  await until(() => !reflector.get('shown'));
  expect([changes[0], changes.at(-1)]).toEqual(['new is', 'was gone']);
  expect(changes.filter((one) => one.startsWith('new'))).toHaveLength(1);
  await reflector.close();
});

kubeIt(
  'logs are read from the end, and followed until the signal',
  async () => {
    await api.create(DEPLOYMENTS, ns, unit('talks'));
    const pod = await bed.pod(
      ns,
      'running',
      ({ metadata, status }) => metadata.name.startsWith('talks') && status?.podIP,
    );
    const { name } = pod.metadata;
    await until(async () => (await textOf(await api.log(ns, name, { container: 'engine' }))).split('\n').length > 50);
    expect(
      (await textOf(await api.log(ns, name, { container: 'engine', tailLines: 3 }))).trim().split('\n'),
    ).toHaveLength(3);
    expect((await textOf(await api.log(ns, name, { limitBytes: 10 }))).length).toBeLessThanOrEqual(10);
    const stop = new AbortController();
    let pieces = 0;
    for await (const _piece of await api.log(ns, name, { follow: true, tailLines: 5, signal: stop.signal })) {
      pieces += 1;
      stop.abort();
    }
    expect(pieces).toBeGreaterThan(0);
    expect(await refused(api.log(ns, 'no-such-pod'))).toMatchObject({ isNotFound: true });
    expect(await refused(api.log(ns, name, { previous: true }))).toMatchObject({ status: 400 });
    await api.delete(DEPLOYMENTS, ns, 'talks');
  },
  90_000,
);

kubeIt(
  'a missing right is named by verb and resource, in a review and a refusal; a missing kind is not an empty answer',
  async () => {
    expect(await api.review(ns, { group: 'apps', resource: 'deployments', verb: 'create' })).toBe(true);
    expect(await api.review(ns, { group: '', resource: 'pods', subresource: 'log', verb: 'get' })).toBe(true);
    expect(await api.review(ns, { group: '', resource: 'pods', subresource: 'exec', verb: 'create' })).toBe(false);
    expect(await refused(api.list(PODS, 'default'))).toMatchObject({
      status: 403,
      reason: 'Forbidden',
      call: { verb: 'list', resource: 'pods', namespace: 'default' },
    });
    expect(await refused(api.get(SECRETS, ns, 'none'))).toMatchObject({ status: 403 });
    const missing = await refused(admin.get(LEADER_WORKER_SETS, ns, 'any'));
    expect(missing).toMatchObject({ status: 404, isNotFound: false });
    await admin.close();
    const stranger = readCluster({ kubeconfig: granted.kubeconfig });
    const unknown = new KubeApi({
      ...stranger,
      server: stranger.server,
      tls: stranger.tls,
      forget: () => undefined,
      authorization: async () => 'Bearer wrong',
      close: () => undefined,
    });
    expect(await refused(unknown.list(PODS, ns))).toMatchObject({ status: 401, reason: 'Unauthorized' });
    await unknown.close();
  },
);
