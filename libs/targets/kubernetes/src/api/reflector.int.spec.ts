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

/** Whatever happens to a server that it watches. The services of `default` are as good as any objects. */
let plane: ControlPlane;
let admin: KubeApi;
let api: KubeApi;
let reflector: Reflector<Service>;
let lists: number;
let watches: number;
let troubles: unknown[];
/** Objects of one test are not those of another that failed. */
let test = 'none';
let tests = 0;

const NS = 'default';

beforeAll(async () => {
  // Without its cache a server feels a compaction at once.
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

kubeIt('a cut and a compaction: 410, a new list, and what went and came meanwhile is seen', async () => {
  const proxy = await SwallowingProxy.start(plane.access.server);
  // The first of the list, by which the server is known again: it is the 410 that asks for a list.
  await create('a7-a');
  await create('a7-goes');
  // Between the cut and the next try lie at least two seconds.
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
});

kubeIt('a connection over which nothing comes any more is left, without a list', async () => {
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

kubeIt('a server that is stopped for a while is heard again at once, without a list', async () => {
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

kubeIt('a server killed and restarted with its etcd is heard within 5 s, without a list', async () => {
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
  'a server that comes back with an empty etcd is believed: all is gone, and what is made anew is seen',
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
