import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import type { InstanceSpec, LogLine, LogOptions, Observation } from '@slipway/target-driver';
import { observeUntil, terminateUntilGone } from '@slipway/target-driver/conformance';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  PODS,
  SECRETS,
  SERVICES,
  TestBed,
  workerRules,
  type KubeError,
  type Pod,
} from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { BedBench } from '../../test/bed-bench.js';
import { engineConfig, INSTALLATION, until } from '../../test/driver-bench.js';
import { readCluster } from '../api/cluster.js';
import { KubeApi } from '../api/requests.js';
import { LiveUnits } from '../instances/live-units.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(180_000);
const WITHIN_MS = 90_000;

let bed: TestBed;
let bench: BedBench;
let driver: KubernetesDriver;
beforeAll(async () => {
  if (!hasKube) return;
  bed = await TestBed.open({ nodes: [{ gpus: 8 }] });
  await bed.kubelet.addNode();
});
afterAll(() => bed?.close());
beforeEach(async () => {
  if (!hasKube) return;
  bench = await BedBench.create(bed);
  bench.setHealthy(true);
  driver = bench.driver();
});
afterEach(() => bench?.close());

async function serving(spec: InstanceSpec, by = driver): Promise<Observation> {
  await by.provision(spec);
  return observeUntil(by, spec, 'ready', WITHIN_MS);
}
const sees = (spec: InstanceSpec, is: (seen: Observation) => boolean, by = driver) =>
  until(() => by.observe(spec), is, WITHIN_MS);
const podOf = async (spec: InstanceSpec) =>
  (await bed.pods(bench.namespace, `slipway.dev/instance=${spec.instanceId}`))[0]!;
const units = async () => (await bed.client.list(DEPLOYMENTS, { namespace: bench.namespace })).items;

kubeIt('one generation starts once by 4 workers with 25 calls each, and never again after its end', async () => {
  const drivers = Array.from({ length: 4 }, () => bench.driver());
  const spec = bench.spec();
  await Promise.all(drivers.flatMap((one) => Array.from({ length: 25 }, () => one.provision(spec))));
  await observeUntil(driver, spec, 'ready', WITHIN_MS);
  expect(await units()).toHaveLength(1);
  await terminateUntilGone(driver, spec.instanceId, WITHIN_MS);
  await Promise.all(drivers.map((one) => one.provision(spec)));
  expect(await driver.observe(spec)).toMatchObject({ state: 'exited', reason: 'terminated' });
  expect(bench.starts()).toBe(1);
});

kubeIt('a stop neither creates a deleted unit nor stops another one of its name', async () => {
  const spec = bench.spec();
  await serving(spec);
  const api = new KubeApi(readCluster({ kubeconfig: bench.granted.kubeconfig }));
  const live = new LiveUnits(api, { 'slipway.dev/installation': INSTALLATION });
  const [unit] = (await live.find(spec.instanceId, [bench.namespace])).units;
  const other = { ...unit!, metadata: { ...unit!.metadata, uid: '11111111-2222-4333-8444-555555555555' } };
  expect(await live.stop(other)).toBeUndefined();
  expect((await driver.observe(spec)).state).toBe('ready');
  await bed.client.remove(DEPLOYMENTS, { namespace: bench.namespace, name: unit!.metadata.name });
  expect(await live.stop(unit!)).toBeUndefined();
  expect(await units()).toEqual([]);
  await api.close();
});

kubeIt('a pod whose unit was deleted alone is reported, with the command that ends it', async () => {
  const spec = bench.spec();
  await serving(spec);
  const [unit] = await units();
  const where = { namespace: bench.namespace, name: unit!.metadata.name! };
  await bed.client.remove(DEPLOYMENTS, where, { isOrphaning: true });
  const { message = '' } = await sees(spec, ({ state }) => state === 'stopping');
  const [, namespace, kind, name = ''] = /: kubectl -n (\S+) delete (\S+) (\S+)$/.exec(message) ?? [];
  expect([namespace, kind]).toEqual([bench.namespace, 'replicaset']);
  await bed.client.remove({ api: 'apps/v1', plural: 'replicasets' }, { namespace: bench.namespace, name });
  await sees(spec, ({ state }) => state === 'absent');
});

/** The revision's budget counts this number of healthy pods, and allows one disruption. */
const budgetFor = (pods: number) =>
  until(
    async () => (await bed.client.list(DISRUPTION_BUDGETS, { namespace: bench.namespace })).items[0]?.['status'],
    (status) => status?.currentHealthy === pods && status.disruptionsAllowed === 1,
    WITHIN_MS,
  );

kubeIt(
  'an eviction moves an instance without a restart, and a budget refuses a second eviction at the same time',
  async () => {
    const spec = bench.spec();
    const alone = await serving(spec);
    await budgetFor(1);
    await bed.client.evict(bench.namespace, (await podOf(spec)).metadata.name!);
    const before = await sees(spec, ({ state, incarnation }) => state === 'ready' && incarnation !== alone.incarnation);
    expect(before).toMatchObject({ restarts: 0, lastExit: { reason: 'evicted' } });
    // Like after an override of the number of instances: the spec of the revision does not mention two.
    const other = bench.spec({ instanceId: 'ins_0190cafe', owner: { ...spec.owner!, ordinal: 1 } });
    await serving(other);
    await budgetFor(2);
    const pod = await podOf(spec);
    await bed.client.evict(bench.namespace, pod.metadata.name!);
    await until(
      () => driver.observe(spec),
      ({ state, incarnation }) => state !== 'ready' || incarnation !== before.incarnation,
      1_000,
    );
    const refused = await bed.client
      .evict(bench.namespace, (await podOf(other)).metadata.name!)
      .catch((error) => error);
    expect((refused as KubeError).status).toBe(429);
    const after = await sees(spec, ({ state, incarnation }) => state === 'ready' && incarnation !== before.incarnation);
    expect(after).toMatchObject({ restarts: 0, lastExit: { reason: 'evicted' } });
    expect((await driver.observe(other)).state).toBe('ready');
  },
);

kubeIt('an instance on a silent node gets no more requests, and returns on another node', async () => {
  const spec = bench.spec();
  const before = await serving(spec);
  await bed.kubelet.silence(before.place!);
  const lost = await sees(spec, ({ state }) => state !== 'ready');
  expect(lost.reason).toBe('node_lost');
  const after = await sees(spec, (seen) => seen.state === 'ready' && seen.place !== before.place);
  expect(after.lastExit).toMatchObject({ reason: 'node_lost' });
  bed.kubelet.wake(before.place!);
});

kubeIt(
  'a start under a quota shows the words of the server, and continues by itself when the quota is raised',
  async () => {
    const quota = { namespace: bench.namespace, name: 'none' };
    const resource = { api: 'v1', plural: 'resourcequotas' };
    await bed.client.create(resource, { metadata: quota, spec: { hard: { pods: '0' } } });
    await until(
      async () => (await bed.client.get(resource, quota))['status']?.hard,
      (hard) => hard !== undefined,
      WITHIN_MS,
    );
    const spec = bench.spec();
    await driver.provision(spec);
    const seen = await sees(spec, ({ reason }) => reason === 'quota_exceeded');
    expect(seen).toMatchObject({ state: 'starting' });
    expect(seen.message).toContain('exceeded quota: none');
    await bed.client.merge(resource, quota, { spec: { hard: { pods: '5' } } });
    await observeUntil(driver, spec, 'ready', WITHIN_MS);
  },
);

/** The longest time between the API server's reason for a pod and the driver's. */
const REASON_MS = 3_000;
const wordsOf = ({ status }: Pod): (string | undefined)[] => [
  ...(status?.conditions ?? []).map(({ reason }) => reason),
  ...(status?.containerStatuses ?? []).flatMap(({ state, lastState }) => [
    state?.waiting?.reason,
    lastState?.terminated?.reason,
  ]),
];

/** @returns the driver's observation with `reason`, within 3 s after the pod shows `word` */
async function toldOf(spec: InstanceSpec, word: string, reason: string): Promise<Observation> {
  const said = until(
    () => bed.pods(bench.namespace, `slipway.dev/instance=${spec.instanceId}`),
    (pods) => pods.some((pod) => wordsOf(pod).includes(word)),
    WITHIN_MS,
  ).then(() => performance.now());
  const seen = sees(spec, (one) => one.reason === reason).then((one) => ({ one, at: performance.now() }));
  const [saidAt, { one, at }] = await Promise.all([said, seen]);
  expect(at - saidAt).toBeLessThan(REASON_MS);
  return one;
}

for (const [image, word, reason, code] of [
  ['test/absent', 'ErrImagePull', 'image_pull_failed', undefined],
  ['test/crash', 'CrashLoopBackOff', 'crash_loop', 3],
  ['test/oom', 'OOMKilled', 'out_of_memory', 137],
] as const)
  kubeIt(`${image} is reported as ${reason} within 3 s, with the output of the engine`, async () => {
    driver = bench.driver({ engines: { sim: bench.steered({ image }) } });
    const spec = bench.spec();
    await driver.provision(spec);
    expect((await toldOf(spec, word, reason)).state).toBe('starting');
    if (code === undefined) return;
    const ended = await sees(spec, ({ failure, restarts = 0 }) => failure !== undefined && restarts > 0);
    expect(ended.failure).toMatchObject({ exit_code: code });
    expect(ended.failure!.log_tail[0]).toMatch(/^loading/);
  });

kubeIt('a missing Secret is reported within 3 s, and the start continues once it exists', async () => {
  driver = bench.driver({ engines: { sim: bench.steered({ env_allow: ['HF_TOKEN'] }) } });
  const envRefs = { HF_TOKEN: { secret: 'hf', key: 'token' } };
  const spec = bench.spec({ runtime: { engine: 'sim', args: {}, env: {}, envRefs } });
  await driver.provision(spec);
  const { state, message } = await toldOf(spec, 'CreateContainerConfigError', 'config_error');
  expect([state, message]).toEqual(['starting', expect.stringContaining('hf')]);
  const metadata = { name: 'hf', namespace: bench.namespace };
  await bed.client.create(SECRETS, { metadata, stringData: { token: 'hf_secret_of_the_operator' } });
  await observeUntil(driver, spec, 'ready', WITHIN_MS);
});

kubeIt('more devices than a node has are reported within 3 s', async () => {
  driver = bench.driver({
    accelerators: { gpu: { resource: 'nvidia.com/gpu', max_count: 64 } },
    engines: {
      sim: bench.steered({ gpus: { min: 1, max: 64, share: 'exclusive' }, allow: { accelerators: ['gpu'] } }),
    },
  });
  const spec = bench.spec({ resources: { accelerator: 'gpu', count: 9 } });
  await driver.provision(spec);
  const { state, message } = await toldOf(spec, 'Unschedulable', 'unschedulable');
  expect([state, message]).toEqual(['starting', expect.stringContaining('nvidia.com/gpu')]);
});

kubeIt('a pod that Pod Security forbids is reported as a refusal', async () => {
  const strict = await BedBench.create(bed, { 'pod-security.kubernetes.io/enforce': 'restricted' });
  const refused = strict.driver();
  const spec = strict.spec();
  await refused.provision(spec);
  const seen = await sees(spec, ({ reason }) => reason === 'admission_denied', refused);
  expect(seen.message).toContain('violates PodSecurity');
  await strict.close();
});

kubeIt('an instance survives the deletion, scaling and editing of its unit by others', async () => {
  const spec = bench.spec();
  const before = await serving(spec);
  const { namespace } = bench;
  const [{ metadata }] = (await units()) as [{ metadata: { name: string } }];
  await bed.client.merge(DEPLOYMENTS, { namespace, name: metadata.name }, { spec: { replicas: 3 } });
  const drifted = await until(
    () => driver.observe(spec),
    ({ drift }) => drift !== undefined,
    5_000,
  );
  expect(drifted).toMatchObject({ state: 'ready', incarnation: before.incarnation });
  await bed.client.remove(DEPLOYMENTS, { namespace, name: metadata.name });
  await observeUntil(driver, spec, 'absent', WITHIN_MS);
  const next = { ...spec, generation: 2 };
  await until(
    async () => {
      await driver.provision(next);
      const serve = (await bed.pods(namespace)).map((pod) => pod.metadata.labels?.['slipway.dev/generation']);
      expect(new Set(serve).size).toBeLessThanOrEqual(1);
      return driver.observe(next);
    },
    ({ state }) => state === 'ready',
    WITHIN_MS,
  );
  expect((await bed.client.list(SERVICES, { namespace })).items).toHaveLength(1);
});

kubeIt('each missing right is named, and no longer named when it is granted again', async () => {
  driver = bench.driver({}, { health: { roundMs: 1_000 } });
  await serving(bench.spec());
  const all = workerRules({ writesSecrets: false });
  for await (const { right, message } of bench.withoutEach(driver, all)) {
    expect(message).toContain(`is not allowed to: ${right}`);
    expect((await driver.observe(bench.spec())).state).toBe('ready');
  }
});

kubeIt('a key is only in the Secret of its unit, and hostile values arrive unchanged', async () => {
  const key = 'Zz9'.repeat(14) + 'k';
  const listens = ['--host', '0.0.0.0', '--port', '{port}'];
  const engine = engineConfig({
    image: 'test/echo',
    command: ['echo', ...listens, '--model={model.id}'],
    env: { SIM_KEY: '{instance_key}' },
    env_allow: ['NOTE', 'HF_TOKEN'],
  });
  driver = bench.driver({ engines: { sim: engine } });
  await bed.client.create(SECRETS, {
    metadata: { name: 'hf', namespace: bench.namespace },
    stringData: { token: 'hf_secret_of_the_operator' },
  });
  const note = '$(HF_TOKEN);id "$$(SIM_KEY)" `id`';
  const spec = bench.spec({
    instanceKey: key,
    model: { id: 'x$(SIM_KEY)y' },
    runtime: { engine: 'sim', args: {}, env: { NOTE: note }, envRefs: { HF_TOKEN: { secret: 'hf', key: 'token' } } },
  });
  const { baseUrl } = await serving(spec);
  const said = (await (await fetch(`${baseUrl}/`)).json()) as { argv: string[]; env: Record<string, string> };
  expect(said.argv.at(-1)).toBe('--model=x$(SIM_KEY)y');
  expect(said.env).toMatchObject({ NOTE: note, SIM_KEY: key, HF_TOKEN: 'hf_secret_of_the_operator' });
  const { items } = await bed.client.list(PODS, { namespace: bench.namespace });
  expect(JSON.stringify([items, await units()])).not.toContain(key);
});

kubeIt('the output has the last lines, the previous life, and new lines', async () => {
  const talk = bench.steered({
    image: 'test/talk',
    command: ['talk', '--host', '0.0.0.0', '--port', '{port}', '--lines', '300'],
  });
  driver = bench.driver({ engines: { sim: talk } });
  const spec = bench.spec();
  const first = await serving(spec);
  const textsOf = async (options: Partial<LogOptions>) => {
    const found: LogLine[] = [];
    const signal = AbortSignal.timeout(20_000);
    const asked: LogOptions = { tail: 200, stream: 'both', previous: false, follow: false, signal, ...options };
    for await (const line of driver.logs(spec.instanceId, asked)) {
      found.push(line);
      if (asked.follow && line.text === 'line 1' && found.length > 5) break;
    }
    return found.map(({ text }) => text);
  };
  const shown = await textsOf({});
  expect(shown).toHaveLength(200);
  expect(shown.at(-1)).toBe('listening');
  expect(await textsOf({ previous: true })).toEqual([]);
  const following = textsOf({ tail: 5, follow: true });
  bed.kubelet.crash(bench.namespace, (await podOf(spec)).metadata.name!);
  await sees(spec, ({ state, incarnation }) => state === 'ready' && incarnation !== first.incarnation);
  expect((await textsOf({ previous: true, tail: 2 })).at(-1)).toBe('listening');
  expect((await following).at(-1)).toBe('line 1');
});
