import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import { ControlPlane, programs, SwallowingProxy } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { readCluster, type KubeCluster } from './cluster.js';
import { UnreachableError } from './errors.js';
import { SERVICES } from './kinds.js';
import type { KubeObject, Service } from './objects.js';
import { Reflector, type ReflectorClock } from './reflector.js';
import { KubeApi } from './requests.js';

jest.setTimeout(180_000);

/**
 * A reflector on a real API server with faults. It watches the services of `default`, which serve as well as any
 * objects.
 */
let plane: ControlPlane;
let admin: KubeApi;
let api: KubeApi;
let reflector: Reflector<Service>;
let lists: number;
let watches: number;
let troubles: unknown[];
/** Separates the objects of a test from those that a failed test left. */
let test = 'none';
let tests = 0;

const NS = 'default';

beforeAll(async () => {
  // A server without its cache reacts to a compaction at once.
  if (hasKube) plane = await ControlPlane.start({ bin: programs(), watchCache: false });
});
afterAll(() => plane?.stop());
beforeEach(() => {
  tests += 1;
  test = `test-${tests}`;
  if (hasKube) admin = new KubeApi(readCluster({ kubeconfig: plane.access.kubeconfig }));
});
afterEach(async () => {
  await reflector?.close();
  await Promise.all([api?.close(), admin?.close()]);
});

class CountingApi extends KubeApi {
  override list<T extends KubeObject>(...[kind, namespace, options = {}]: Parameters<KubeApi['list']>) {
    if (options.limit === undefined) lists += 1;
    return super.list<T>(kind, namespace, options);
  }

  override async watch(...asked: Parameters<KubeApi['watch']>) {
    const stands = await super.watch(...asked);
    watches += 1;
    return stands;
  }
}

async function reflect(clock: Partial<ReflectorClock> = {}, server = plane.access.server): Promise<void> {
  [lists, watches, troubles] = [0, 0, []];
  const cluster = readCluster({ kubeconfig: plane.access.kubeconfig });
  api = new CountingApi(at(cluster, server), { callTimeoutMs: 10_000 });
  reflector = new Reflector<Service>(api, {
    kind: SERVICES,
    namespace: NS,
    labelSelector: `test=${test}`,
    onTrouble: (error) => troubles.push(error),
    clock,
  });
  reflector.start();
  await until(() => reflector.isSynced && watches > 0);
}

const at = (cluster: KubeCluster, server: string): KubeCluster => ({
  server,
  tls: cluster.tls,
  authorization: () => cluster.authorization(),
  forget: () => cluster.forget(),
  close: () => cluster.close(),
});

async function until(isSo: () => unknown, withinMs = 30_000): Promise<number> {
  const startedAt = Date.now();
  for (; !(await isSo()); await pause(20))
    if (Date.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms: ${isSo}`);
  return Date.now() - startedAt;
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const names = (): string[] => [...reflector.values()].map(({ metadata }) => metadata.name).sort();

const create = (name: string): Promise<Service> =>
  admin.create<Service>(SERVICES, NS, {
    metadata: { name, labels: { test } },
    spec: { clusterIP: 'None', ports: [{ port: 80 }] },
  });
const remove = (name: string): Promise<void> => admin.delete(SERVICES, NS, name);

kubeIt(
  'after a cut and a compaction a 410 leads to a new list, which shows what was deleted and created meanwhile',
  async () => {
    const proxy = await SwallowingProxy.start(plane.access.server);
    // The first object of the list, which shows that it is still the same server. So it is the 410 that causes a list.
    await create('a7-a');
    await create('a7-goes');
    // At least two seconds pass between the cut and the next try.
    await reflect({ shorterRetries: 0.25 }, proxy.server);
    expect(names()).toEqual(['a7-a', 'a7-goes']);
    proxy.cut();
    await remove('a7-goes');
    await create('a7-comes');
    await plane.compact();
    expect([names(), lists]).toEqual([['a7-a', 'a7-goes'], 1]);
    await until(() => names().join() === 'a7-a,a7-comes');
    await create('a7-later');
    await until(() => reflector.get('a7-later'));
    expect(lists).toBe(2);
    await reflector.close();
    await proxy.stop();
  },
);

kubeIt('a connection that has become silent is replaced, without a list', async () => {
  const proxy = await SwallowingProxy.start(plane.access.server);
  await create('a8-before');
  await reflect({ silenceMs: 2_000 }, proxy.server);
  const before = watches;
  proxy.swallow();
  await create('a8-since');
  await pause(500);
  expect(reflector.get('a8-since')).toBeUndefined();
  proxy.pass();
  const took = await until(() => reflector.get('a8-since'));
  expect(took).toBeLessThan(6_000);
  expect(watches).toBeGreaterThan(before);
  expect(lists).toBe(1);
  await Promise.all(['a8-before', 'a8-since'].map(remove));
  await reflector.close();
  await proxy.stop();
});

kubeIt('events of a server that was stopped for a while arrive at once, without a list', async () => {
  await create('a5');
  await reflect();
  plane.pause();
  try {
    await pause(8_000);
    expect([names(), reflector.isSynced]).toEqual([['a5'], true]);
  } finally {
    plane.resume();
  }
  await remove('a5');
  await until(() => names().length === 0, 5_000);
  expect([lists, troubles]).toEqual([1, []]);
});

kubeIt('events of a server that was killed and restarted with its etcd arrive within 5 s, without a list', async () => {
  await create('a6');
  await reflect();
  await plane.killApiServer();
  await until(() => troubles.length > 0, 10_000);
  expect(troubles[0]).toBeInstanceOf(UnreachableError);
  expect(names()).toEqual(['a6']);
  await plane.startApiServer();
  const took = await until(() => troubles.at(-1) === null, 10_000);
  expect(took).toBeLessThan(5_000);
  await remove('a6');
  await until(() => names().length === 0);
  expect(lists).toBe(1);
});

kubeIt(
  'a server that returns with an empty etcd is accepted: old objects are deleted, and new ones are shown',
  async () => {
    await create('a6-lost');
    await create('a6-anew');
    await reflect();
    const lost = reflector.get('a6-anew')?.metadata.uid;
    await plane.restart('emptied');
    await until(() => names().length === 0);
    await create('a6-anew');
    await until(() => reflector.get('a6-anew'));
    expect(reflector.get('a6-anew')?.metadata.uid).not.toBe(lost);
    await remove('a6-anew');
    expect(lists).toBeGreaterThanOrEqual(2);
  },
);
