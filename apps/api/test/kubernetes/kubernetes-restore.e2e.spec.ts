import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { DEPLOYMENTS, DISRUPTION_BUDGETS, isReady, SERVICES, type KubeObject } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { TcpProxy } from '@slipway/platform-database/testing';
import { emptied } from '../harness/emptied-database.js';
import { KubeStack, lost, type Unit } from './kube-stack.js';
import { command } from '../harness/operator-command.js';
import { Stack, until } from '../harness/stack.js';

// A second start of the product, and two runs of its commands in between: minutes on a busy machine.
jest.setTimeout(300_000);

const GONE_MS = 60_000;
/** From the moment that a worker can lead. */
const STOPPED_MS = 10_000;
/** The other installation in the namespace. */
const ANOTHER = { 'slipway.dev/installation': '0190c0de-0000-7000-8000-000000000000' };

let kube: KubeStack;
let proxy: TcpProxy;
const folder = mkdtempSync(path.join(tmpdir(), 'slipway-restore-'));
const restored: Stack[] = [];
beforeAll(async () => {
  if (!hasKube) return;
  const { hostname, port } = new URL(process.env['TEST_PG_URL']!);
  proxy = await TcpProxy.start({ host: hostname, port: Number(port || 5432) });
  kube = await KubeStack.start({ nodes: [{}, {}] }, (url) => proxy.through(url));
});
afterAll(async () => {
  for (const stack of restored) await stack.stop();
  await kube?.stop();
  await proxy?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes the objects of another Slipway for a unit that resembles ours, of which our tables contain nothing. */
async function anothers(unit: Unit): Promise<() => Promise<unknown[]>> {
  const { client } = kube.bed;
  const { namespace } = kube;
  const labels = { ...unit.metadata.labels, ...ANOTHER };
  const [name, selector] = ['slw-another-0-00000000-g1', { ...ANOTHER }];
  const template = { ...unit['spec'].template, metadata: { labels } };
  const metadata = { name, namespace, labels };
  await client.create(DEPLOYMENTS, { metadata, spec: { replicas: 1, selector: { matchLabels: selector }, template } });
  await client.create(SERVICES, { metadata, spec: { clusterIP: 'None', selector } });
  await client.create(DISRUPTION_BUDGETS, {
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: selector } },
  });
  const labelSelector = `slipway.dev/installation=${ANOTHER['slipway.dev/installation']}`;
  const pods = () => kube.bed.pods(namespace, labelSelector);
  await until('its pod', async () => (await pods()).some(isReady), GONE_MS);
  return async () => {
    const kinds = [DEPLOYMENTS, SERVICES, DISRUPTION_BUDGETS];
    const found = await Promise.all(
      kinds.map(async (kind) => (await client.list(kind, { namespace, labelSelector })).items),
    );
    const idOf = ({ metadata: { uid, generation } }: KubeObject) => ({ uid, generation });
    return [...found.flat().map(idOf), (await pods()).map(({ metadata: { uid } }) => uid)];
  };
}

/**
 * Returns when the leading worker connected to Postgres: its clock and the worker's measure the
 * durations, independent of the time of the check.
 */
async function ledFrom(): Promise<number> {
  const [session] = await kube.stack.query(`select backend_start as at from pg_stat_activity where pid = $1`, [
    await kube.leader(),
  ]);
  return session.at.getTime();
}

kubeIt('a database from an older dump keeps the units that it knows, and stops the others', async () => {
  const { stack, namespace } = kube;
  const known = await kube.serving(2);
  const seen = async (instances: any[]) => ({
    units: (await kube.unitsOf(instances)).map(({ metadata: { uid, generation } }) => [uid, generation]),
    pods: (await kube.podsOf(instances)).map(({ metadata: { uid } }) => uid),
  });
  const kept = await kube.instancesOf(known);
  const [unit] = await kube.unitsOf(kept);
  const ofAnother = await anothers(unit!);
  const before = await seen(kept);
  const theirs = await ofAnother();
  const dump = path.join(folder, 'dump');
  expect(await command(stack, 'backup', dump)).toMatchObject({ status: 0 });
  const unknown = await kube.serving(2);
  const orphans = await kube.instancesOf(unknown);

  const answers = await kube.underLoad(known, async () => {
    await Promise.all([stack.kill('api'), stack.kill('worker')]);
    // The gateway has no Postgres until the database is complete: it would follow an empty one.
    proxy.refuse();
    await emptied(stack.testDatabase.ownerUrl);
    const { testDatabase } = stack;
    const home = mkdtempSync(path.join(folder, 'home-'));
    expect(await command({ testDatabase, home }, 'restore', dump)).toMatchObject({ status: 0 });
    proxy.restore();
    restored.push(await Stack.start({ home, database: testDatabase, config: () => kube.config }));
    await until('the new worker to lead', async () => (await kube.leader()) !== undefined, GONE_MS);
    const areStopped = async () => (await kube.unitsOf(orphans)).every(({ spec }) => spec.replicas === 0);
    await until('what nobody knows to be stopped', areStopped, GONE_MS, () => restored[0]!.logOf('worker'));
    const stops = (await kube.unitsOf(orphans)).map(({ metadata }) => metadata.annotations!['slipway.dev/stopped-at']!);
    expect(Math.max(...stops.map((at) => Date.parse(at))) - (await ledFrom())).toBeLessThan(STOPPED_MS);
    await until('it to be gone', async () => (await kube.podsOf(orphans)).length === 0, GONE_MS);
    await until('the gateway to forget it', async () => (await kube.chat(unknown)).status === 404, GONE_MS);
  });
  expect(lost(answers)).toEqual([]);
  const { data } = await restored[0]!.slipway().deployments.instances.list(known);
  const standing = ({ id, state, generation, restarts }: any) => ({ id, state, generation, restarts });
  expect(data.map(standing)).toEqual(kept.map(standing));
  expect(await seen(kept)).toEqual(before);
  expect(await ofAnother()).toEqual(theirs);
  expect((await kube.bed.pods(namespace)).filter(isReady)).toHaveLength(3);
});
