import { randomBytes } from 'node:crypto';
import { beforeAll, expect } from '@jest/globals';
import { sharedAccess } from '@slipway/kube-testbed';
import { CHART, exampleValues } from '../src/chart.js';
import { runHelm, type KubeObject } from '../src/helm.js';
import { kubectlAt } from './kubectl.js';
import { helm, itWith, kubectl } from './programs.js';

const it = itWith(helm, kubectl);
/** Unique for this run: a second run may use the same control plane. */
const HERE = `chart-upgrade-${randomBytes(4).toString('hex')}`;
const MODELS = `${HERE}-models`;
const TRIAL = `${HERE}-trial`;
const SECRETS = ['bootstrap', 'key', 'postgres'].map((part) => `secret/slipway-${part}`);
const WORKLOADS = ['deployment/slipway-api', 'deployment/slipway-worker', 'statefulset/slipway-gateway'];
/** An object that a driver has created, as far as it matters to Helm. */
const MODEL = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'slw-chat-00001-0-0badcafe-g1',
    namespace: MODELS,
    labels: { 'app.kubernetes.io/managed-by': 'slipway' },
  },
  spec: {
    replicas: 1,
    selector: { matchLabels: { unit: 'chat' } },
    template: { metadata: { labels: { unit: 'chat' } }, spec: { containers: [{ name: 'engine', image: 'sim' }] } },
  },
};

let run: ReturnType<typeof kubectlAt>;
let kubeconfig: string;

beforeAll(async () => {
  if (helm === '' || kubectl === '') return;
  ({ kubeconfig } = await sharedAccess());
  run = kubectlAt(kubectl, kubeconfig);
  const namespaces = [HERE, MODELS, TRIAL].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  const items = [...namespaces, MODEL];
  expect(await run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))).toMatchObject({
    status: 0,
  });
});

/** Without hooks, because there are no nodes on which the migration could run. */
async function helmWith(command: 'install' | 'upgrade', ...set: string[]): Promise<void> {
  const values = ['--values', exampleValues().get('minimal')!];
  const always = ['gateway.persistence.enabled=true', 'gateway.replicas=3', `targets.namespaces[0].name=${MODELS}`];
  const sets = [...always, ...set].flatMap((one) => ['--set', one]);
  await helmAt(HERE, command, 'slipway', CHART, ...values, ...sets);
}

const helmAt = (namespace: string, ...args: string[]): Promise<string> =>
  runHelm(helm, [...args, '--namespace', namespace, '--no-hooks'], kubeconfig);

async function get(object: string, namespace = HERE): Promise<KubeObject & { spec: any; data?: any; metadata: any }> {
  const said = await run(['get', object, '-n', namespace, '-o', 'json']);
  expect([object, said.stderr]).toEqual([object, '']);
  return JSON.parse(said.stdout);
}

/** Increases whenever the spec of an object changes, which starts a rollout of these objects. */
const generations = (): Promise<number[]> =>
  Promise.all(WORKLOADS.map(async (one) => (await get(one)).metadata.generation as number));

it('a release is installed, changed, rolled back and removed without a change to any model', async () => {
  await helmWith('install');
  const first = await generations();
  const model = await get(`deployment/${MODEL.metadata.name}`, MODELS);

  await helmWith('upgrade', 'config.quotas.tokens=7');
  expect((await get('configmap/slipway-config')).data['slipway.config.yaml']).toContain('tokens: 7');
  // Processes reload the file, so nothing is restarted for it.
  expect(await generations()).toEqual(first);

  await helmWith('upgrade', 'image.tag=9.9.9', 'gateway.preStopSeconds=20', 'api.podAnnotations.a=b');
  const [container] = (await get('statefulset/slipway-gateway')).spec.template.spec.containers;
  expect(container.image).toBe('slipway-gateway:9.9.9');
  expect((await generations()).map((one, index) => one > first[index]!)).toEqual([true, true, true]);

  await helmAt(HERE, 'rollback', 'slipway', '1');
  const [before] = (await get('deployment/slipway-api')).spec.template.spec.containers;
  expect(before.image).toBe('slipway-api:0.1.0');

  expect((await get(`role/${HERE}-slipway-worker`, MODELS)).kind).toBe('Role');
  await helmAt(HERE, 'uninstall', 'slipway');
  const left = await run(['get', 'role,rolebinding,networkpolicy', '-n', MODELS, '-o', 'name']);
  expect([left.stdout, left.status]).toEqual(['', 0]);
  const { metadata } = await get(`deployment/${MODEL.metadata.name}`, MODELS);
  expect([metadata.uid, metadata.generation]).toEqual([model.metadata.uid, model.metadata.generation]);
});

it('an HPA that is enabled keeps one replica until it acts, as the page of the chart says', async () => {
  await helmWith('install', 'api.replicas=2', 'workspace.store=s3://bucket/x');
  expect((await get('deployment/slipway-api')).spec.replicas).toBe(2);
  await helmWith('upgrade', 'api.hpa.enabled=true', 'workspace.store=s3://bucket/x');
  expect((await get('deployment/slipway-api')).spec.replicas).toBe(1);
  await helmAt(HERE, 'uninstall', 'slipway');
});

const secretsOf = (names = SECRETS): Promise<Record<string, string>[]> =>
  Promise.all(names.map(async (one) => (await get(one, TRIAL)).data as Record<string, string>));

it('the Secrets that the chart makes outlive upgrades, a removal and another install', async () => {
  await helmAt(TRIAL, 'install', 'slipway', CHART);
  const first = await secretsOf();
  await helmAt(TRIAL, 'upgrade', 'slipway', CHART, '--set', 'image.tag=9.9.9');
  expect(await secretsOf()).toEqual(first);
  await helmAt(TRIAL, 'uninstall', 'slipway');
  expect(await secretsOf()).toEqual(first);
  await helmAt(TRIAL, 'install', 'slipway', CHART);
  expect(await secretsOf()).toEqual(first);
});

it('an upgrade is refused if a Secret is missing that no other can replace, and changes nothing', async () => {
  for (const [name, value] of [
    ['slipway-key', 'secretKey.existingSecret'],
    ['slipway-postgres', 'database.existingSecret'],
  ] as const) {
    const { data } = await get(`secret/${name}`, TRIAL);
    await run(['delete', 'secret', name, '-n', TRIAL]);
    const before = (await get('deployment/slipway-api', TRIAL)).metadata.generation;
    const refused = helmAt(TRIAL, 'upgrade', 'slipway', CHART, '--set', 'image.tag=9.9.8');
    await expect(refused).rejects.toThrow(new RegExp(`the Secret ${name} is missing[^]*${value}`));
    expect((await get('deployment/slipway-api', TRIAL)).metadata.generation).toBe(before);
    // Restored as from a backup, without what Helm writes to its own objects.
    const restored = { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: TRIAL }, data };
    expect(await run(['apply', '-f', '-'], JSON.stringify(restored))).toMatchObject({ status: 0 });
    await helmAt(TRIAL, 'upgrade', 'slipway', CHART);
    expect((await get(`secret/${name}`, TRIAL)).data).toEqual(data);
  }
});

it('an upgrade makes another admin token if its Secret was removed after the first sign-in', async () => {
  const [before] = await secretsOf([SECRETS[0]!]);
  await run(['delete', SECRETS[0]!, '-n', TRIAL]);
  await helmAt(TRIAL, 'upgrade', 'slipway', CHART);
  const [after] = await secretsOf([SECRETS[0]!]);
  expect([Object.keys(after!), after!['token'] === before!['token']]).toEqual([['token'], false]);
});

it('a trial moves on to Secrets of its own, and keeps those of the chart', async () => {
  const before = await secretsOf();
  await helmAt(TRIAL, 'upgrade', 'slipway', CHART, '--values', exampleValues().get('minimal')!);
  expect((await run(['get', 'statefulset/slipway-postgres', '-n', TRIAL])).status).not.toBe(0);
  expect(await secretsOf()).toEqual(before);
  await helmAt(TRIAL, 'uninstall', 'slipway');
});
