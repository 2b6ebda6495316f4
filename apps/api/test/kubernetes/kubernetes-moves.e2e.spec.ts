import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { DISRUPTION_BUDGETS } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { exactly, KubeStack, lost, specOn } from './kube-stack.js';
import { until } from '../harness/stack.js';

jest.setTimeout(300_000);

const PAGE = fileURLToPath(new URL('../../../../docs/guides/kubernetes.md', import.meta.url));
const WITHIN_MS = 120_000;
const CANARY = { type: 'canary', steps: [50, 100].map((traffic_percent) => ({ traffic_percent, soak_seconds: 2 })) };
const ANALYSIS = { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 0.05, min_samples: 5 }] };

let kube: KubeStack;
beforeAll(async () => {
  if (hasKube) kube = await KubeStack.start({ nodes: [{}, {}, {}] });
});
afterAll(() => kube?.stop());

kubeIt('a canary and a rollback between processes and pods behave as among processes', async () => {
  const { stack } = kube;
  /** The events about them, in order. */
  const told: string[][] = [];
  for (const [from, to] of [
    ['local', 'local'],
    ['local', 'cluster'],
    ['cluster', 'local'],
  ] as const) {
    const name = await kube.deployment();
    const stable = await kube.rolledOut(name, specOn(from, 'm-stable'));
    const answers = await kube.underLoad(name, async () => {
      const body = { spec: specOn(to, 'm-candidate'), strategy: CANARY, analysis: ANALYSIS };
      const rollout = await stack.operation(await kube.begin(name, body), undefined, WITHIN_MS);
      expect(rollout).toMatchObject({ status: 'succeeded', result: { outcome: 'promoted' } });
      await kube.serves(name, `${name}-00002`);
      const { operation } = await stack.slipway().deployments.rollbacks.create(name, {});
      expect(await stack.operation(operation.id, undefined, WITHIN_MS)).toMatchObject({ status: 'succeeded' });
      await kube.serves(name, stable);
    });
    expect(lost(answers)).toEqual([]);
    const events = await kube.eventsOf(name);
    told.push(events.filter((type) => /^(rollout|rollback|route)\./.test(type)));
  }
  expect(told[0]).toContain('rollback.completed');
  expect(told.slice(1)).toEqual([told[0], told[0]]);
});

kubeIt('a node pool is drained as the page says without a lost request', async () => {
  const name = await kube.deployment();
  await kube.rolledOut(name, specOn('cluster', 'm', { scaling: exactly(2) }));
  const instances = await kube.instancesOf(name);
  const pool: string[] = instances.map((one) => one.place);
  expect(new Set(pool).size).toBe(2);
  const [unit] = await kube.unitsOf(instances);
  const revision = unit!.metadata.labels!['slipway.dev/revision'];
  const where = { namespace: kube.namespace, labelSelector: `slipway.dev/revision=${revision}` };
  const { bed } = kube;
  await until('its budget', async () => (await bed.client.list(DISRUPTION_BUDGETS, where)).items.length === 1);

  const [cordon, drain] = ['cordon', 'drain'].map((verb) => commandOfPage(verb));
  const answers = await kube.underLoad(name, async () => {
    for (const node of pool) await kubectl(cordon!(node));
    for (const node of pool) await kubectl(drain!(node));
    const isElsewhere = async () =>
      (await kube.instancesOf(name)).every((one) => one.state === 'ready' && !pool.includes(one.place));
    await until('both to run on the other node', isElsewhere, WITHIN_MS, () => kube.stack.logOf('worker'));
  });
  expect(lost(answers)).toEqual([]);
  const events = await kube.eventsOf(name);
  expect(events.filter((type) => type === 'instance.moved')).toHaveLength(2);
  expect(events).not.toContain('instance.crashed');
});

/** Returns the command on the documentation page for a node. */
function commandOfPage(verb: string): (node: string) => string[] {
  const line = new RegExp(`^kubectl (${verb} "\\$NODE".*)$`, 'm').exec(readFileSync(PAGE, 'utf8'))![1]!;
  return (node) => line.split(' ').map((word) => (word === '"$NODE"' ? node : word));
}

async function kubectl(args: readonly string[]): Promise<void> {
  const { bin, kubeconfig } = kube.bed.access;
  await promisify(execFile)(path.join(bin, 'kubectl'), [`--kubeconfig=${kubeconfig}`, ...args], { timeout: WITHIN_MS });
}
