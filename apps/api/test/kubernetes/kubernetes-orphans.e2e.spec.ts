import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import { DEPLOYMENTS, isReady, PODS, workerRules, type Pod } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { KubeStack } from './kube-stack.js';
import { until } from '../harness/stack.js';

jest.setTimeout(600_000);

const SOON_MS = 90_000;
const DELETED_MS = 180_000;

let kube: KubeStack;
beforeAll(async () => {
  if (!hasKube) return;
  kube = await KubeStack.start({ nodes: [{}, {}] });
});
afterAll(() => kube?.stop());
afterEach(async () => {
  if (!hasKube) return;
  await until('the api', apiAnswers, SOON_MS);
  await write(kube.config);
  await restart();
});

const log = () => kube.stack.logOf('worker');
const podsOf = (namespace: string) => kube.bed.pods(namespace);
const runningIn = async (namespace: string) => (await podsOf(namespace)).filter(isReady).length;
const targets = () => kube.stack.slipway().targets.list();

async function apiAnswers(): Promise<boolean> {
  try {
    return (await targets()).data.length > 0;
  } catch {
    return false;
  }
}

/** Writes the operator's file, and waits until the api uses it. The worker checks it as often. */
async function write(text: string): Promise<void> {
  const before = (await targets()).configuration.digest;
  writeFileSync(path.join(kube.stack.home, 'slipway.config.yaml'), text);
  if (text !== written) await until('the api to use it', async () => (await targets()).configuration.digest !== before);
  written = text;
  await new Promise((resolve) => setTimeout(resolve, 1_500));
}
let written: string;
beforeAll(() => void (written = kube?.config));

async function restart(): Promise<void> {
  await kube.stack.kill('worker');
  kube.stack.spawn('worker');
  await until('a worker to lead', async () => (await kube.leader()) !== undefined, SOON_MS, log);
}

const moved = () => kube.config.replaceAll(`{default: ${kube.namespace}}`, `{default: ${kube.spare}}`);
const tenantMoved = () =>
  kube.config.replaceAll(
    `{default: ${kube.namespace}}`,
    `{default: ${kube.namespace}, by_tenant: {default: ${kube.spare}}}`,
  );
const renamed = () => kube.config.replace('- name: cluster', '- name: renamed');

async function remove(name: string): Promise<string> {
  const { operation } = await kube.stack.slipway().deployments.delete(name);
  return operation.id;
}

/** Deletes a deployment, of which nothing may be left in either namespace. */
async function goneAfterDeletion(name: string): Promise<void> {
  const ids = new Set((await kube.instancesOf(name)).map(({ id }) => id));
  const { status } = await kube.stack.operation(await remove(name), undefined, DELETED_MS);
  // Read at once: a deletion that has succeeded leaves nothing that runs.
  const left = (await Promise.all([kube.namespace, kube.spare].map(podsOf))).flat();
  const own = left.filter(({ metadata: { labels } }: Pod) => ids.has(labels?.['slipway.dev/instance'] ?? ''));
  expect([status, own.map(({ metadata }: Pod) => metadata.name)]).toEqual(['succeeded', []]);
}

for (const [what, file] of [
  ['the namespace of the target has changed', moved],
  ['the tenant has moved to another namespace', tenantMoved],
] as const)
  for (const [how, then] of [
    ['while the worker runs', async () => undefined],
    ['before the worker starts again', restart],
  ] as const)
    kubeIt(`${what} ${how}: the pod stays, the next one starts in the new namespace, and nothing is left`, async () => {
      const name = await kube.serving(1);
      const before = await kube.instancesOf(name);
      await write(file());
      await then();
      await new Promise((resolve) => setTimeout(resolve, 5_000));
      expect(await kube.instancesOf(name)).toMatchObject([
        { id: before[0].id, state: 'ready', generation: 1, restarts: 0 },
      ]);
      expect([await runningIn(kube.namespace), await runningIn(kube.spare)]).toEqual([1, 0]);
      expect((await kube.chat(name)).status).toBe(200);
      expect((await kube.target()).conditions).toEqual([]);
      // Its pod ends by hand with its unit: the next generation is made where the file says, and there is only one.
      for (const { metadata } of await kube.unitsOf(before))
        await kube.bed.client.remove(DEPLOYMENTS, { namespace: kube.namespace, name: metadata.name });
      await until('the next one', async () => (await runningIn(kube.spare)) === 1, SOON_MS, log);
      await until('it to serve', async () => (await kube.instancesOf(name))[0].state === 'ready', SOON_MS, log);
      expect(await runningIn(kube.namespace)).toBe(0);
      await goneAfterDeletion(name);
    });

kubeIt('a deletion ends with the pod in the namespace that the file no longer names', async () => {
  const name = await kube.serving(2);
  await write(moved());
  await restart();
  await goneAfterDeletion(name);
});

kubeIt(
  'a renamed target is refused by the next worker with the instances, and a deletion waits until it is back',
  async () => {
    const name = await kube.serving(1);
    const [{ id }] = await kube.instancesOf(name);
    await write(renamed());
    // The worker that runs still reaches it.
    expect(await kube.instancesOf(name)).toMatchObject([{ id, state: 'ready' }]);
    await kube.stack.kill('worker');
    const child = kube.stack.spawn('worker');
    await until('the refusal', async () => child.exitCode !== null, SOON_MS, log);
    expect([child.exitCode, log()]).toEqual([78, expect.stringContaining(`${id} of ${name}-00001 on target cluster`)]);
    await kube.stack.kill('api');
    kube.stack.spawn('api');
    await until('the api', apiAnswers, SOON_MS);
    expect((await targets()).data.find((one: any) => one.name === 'cluster')).toMatchObject({
      removed: true,
      conditions: [{ type: 'not_configured', message: expect.stringContaining(`${name}-00001`) }],
    });
    const operation = await remove(name);
    expect(await runningIn(kube.namespace)).toBe(1);
    await write(kube.config);
    await restart();
    expect((await kube.stack.operation(operation, undefined, DELETED_MS)).status).toBe('succeeded');
    expect(await podsOf(kube.namespace)).toEqual([]);
  },
);

kubeIt('a deletion waits for a cluster that is away, names the instance, and leaves nothing', async () => {
  const name = await kube.serving(1);
  const [{ id }] = await kube.instancesOf(name);
  await kube.granted.allow([]);
  const operation = await remove(name);
  const waits = async () => (await kube.stack.operation(operation, ['running'])).message?.includes(id) === true;
  await until('the message', waits, SOON_MS, log);
  expect((await kube.stack.operation(operation, ['running'])).message).toMatch(
    /1 instance is not known to have stopped: ins_\S+ on target cluster \(its target does not report/,
  );
  expect(await runningIn(kube.namespace)).toBe(1);
  await kube.granted.allow(workerRules());
  expect((await kube.stack.operation(operation, undefined, DELETED_MS)).status).toBe('succeeded');
  expect(await podsOf(kube.namespace)).toEqual([]);
});

kubeIt('units of a target name that no row knows are listed with a command that removes them, and kept', async () => {
  const { client } = kube.bed;
  const { namespace } = kube;
  const name = await kube.serving(1);
  const [unit] = await kube.unitsOf(await kube.instancesOf(name));
  const labels = { ...unit!.metadata.labels, 'slipway.dev/target': 'gpu-old', 'slipway.dev/instance': 'ins_old' };
  const spec = unit!['spec'] as any;
  const template = { ...spec.template, metadata: { labels } };
  const selector = { matchLabels: { 'slipway.dev/instance': 'ins_old' } };
  await client.create(DEPLOYMENTS, {
    metadata: { name: 'slw-old-0-00000000-g1', namespace, labels },
    spec: { replicas: 1, selector, template },
  });
  const old = async () => (await kube.target()).unknown_units;
  await until('the list', async () => (await old()).length === 1, SOON_MS, log);
  expect(await old()).toEqual([
    {
      target: 'gpu-old',
      location: `namespace ${namespace}`,
      count: 1,
      running: 1,
      names: ['slw-old-0-00000000-g1'],
      command: expect.stringMatching(/^kubectl -n \S+ delete deployments,pods,.* -l .*slipway.dev\/target=gpu-old$/),
    },
  ]);
  await until('its pod', async () => (await runningIn(namespace)) === 2, SOON_MS);
  await client.remove(DEPLOYMENTS, { namespace, name: 'slw-old-0-00000000-g1' });
  await until('the end of the list', async () => (await old()).length === 0, SOON_MS, log);
  await until('the end of its pod', async () => (await client.list(PODS, { namespace })).items.length === 1, SOON_MS);
  await goneAfterDeletion(name);
});
