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
  const namespaces = [HERE, MODELS].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }));
  const items = [...namespaces, MODEL];
  expect(await run(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))).toMatchObject({
    status: 0,
  });
});

/** Without hooks, because there are no nodes on which the migration could run. */
async function helmWith(command: 'install' | 'upgrade', ...set: string[]): Promise<void> {
  const values = ['--values', exampleValues().get('minimal')!];
  const always = ['gateway.persistence.enabled=true', `targets.namespaces[0].name=${MODELS}`];
  const sets = [...always, ...set].flatMap((one) => ['--set', one]);
  await runHelm(helm, [command, 'slipway', CHART, '--namespace', HERE, '--no-hooks', ...values, ...sets], kubeconfig);
}

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

  await runHelm(helm, ['rollback', 'slipway', '1', '--namespace', HERE, '--no-hooks'], kubeconfig);
  const [before] = (await get('deployment/slipway-api')).spec.template.spec.containers;
  expect(before.image).toBe('slipway-api:0.1.0');

  expect((await get(`role/${HERE}-slipway-worker`, MODELS)).kind).toBe('Role');
  await runHelm(helm, ['uninstall', 'slipway', '--namespace', HERE, '--no-hooks'], kubeconfig);
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
  await runHelm(helm, ['uninstall', 'slipway', '--namespace', HERE, '--no-hooks'], kubeconfig);
});
