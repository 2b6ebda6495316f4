import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect } from '@jest/globals';
import { sharedAccess } from '@slipway/kube-testbed';
import { chartRules, exampleValues, RAW } from '../src/chart.js';
import { objectsOf, renderChart, type KubeObject } from '../src/helm.js';
import { kubectlAt, type CommandResult } from './kubectl.js';
import { nameOf, podsOf } from './pods.js';
import { helm, itWith, kubectl } from './programs.js';

const it = itWith(helm, kubectl);
const EXAMPLES = [...exampleValues()].map(([name, file]) => ({ name, file, namespace: `chart-${name}` }));
const RELEASES = [...EXAMPLES.map(({ namespace }) => namespace), 'slipway'];
const MODELS = ['slipway-models', 'models-acme', 'models-globex'];
const ACCOUNT_WAIT_MS = 20_000;

let run: ReturnType<typeof kubectlAt>;

beforeAll(async () => {
  if (helm === '' || kubectl === '') return;
  run = kubectlAt(kubectl, (await sharedAccess()).kubeconfig);
  const level = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/warn': 'restricted' };
  const namespaces = [...RELEASES, ...MODELS].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: level },
  }));
  const priority = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'platform' },
    value: 1,
  };
  expect(await apply([...namespaces, priority])).toMatchObject({ status: 0, stderr: '' });
  await Promise.all(RELEASES.map(defaultAccount));
});

const apply = (objects: object[], ...args: string[]): Promise<CommandResult> =>
  run(['apply', ...args, '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));

const tried = (objects: object[], namespace: string): Promise<CommandResult> =>
  apply(placed(objects, namespace), '--dry-run=server');

/** kubectl refuses an object of another namespace than the one in its arguments. */
const placed = (objects: object[], namespace: string): object[] =>
  (objects as KubeObject[]).map((one) => ({ ...one, metadata: { namespace, ...one.metadata } }));

/** Created by a controller, and required by the admission of pods. */
async function defaultAccount(namespace: string): Promise<void> {
  const deadline = Date.now() + ACCOUNT_WAIT_MS;
  while ((await run(['get', 'serviceaccount', 'default', '-n', namespace])).status !== 0) {
    if (Date.now() > deadline) throw new Error(`${namespace} has no default account`);
    await delay(200);
  }
}

/** Pod Security checks only the pods of a workload, and only when they are created. */
const asPods = (objects: KubeObject[]): object[] =>
  podsOf(objects).map(({ of, labels, spec }) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `of-${of.metadata.name}-${of.kind.toLowerCase()}`, labels },
    spec: withVolumes(of, spec),
  }));

function withVolumes(of: KubeObject, spec: { volumes?: object[] }): object {
  const claims = ((of['spec'] as any).volumeClaimTemplates ?? []) as { metadata: { name: string } }[];
  const volumes = claims.map(({ metadata: { name } }) => ({ name, persistentVolumeClaim: { claimName: name } }));
  return { ...spec, volumes: [...(spec.volumes ?? []), ...volumes] };
}

for (const { name, file, namespace } of EXAMPLES)
  it(`${name}: the API server accepts each object and pod without a warning in a restricted namespace`, async () => {
    const objects = await renderChart({ helm, namespace, values: [file] });
    const said = await tried(objects, namespace);
    expect([said.stderr, said.status]).toEqual(['', 0]);
    expect(said.stdout.trim().split('\n')).toHaveLength(objects.length);
    const accounts = objects.filter(({ kind }) => kind === 'ServiceAccount');
    expect(await apply(placed(accounts, namespace))).toMatchObject({ status: 0 });
    const pods = asPods(objects);
    expect(pods).toHaveLength(name === 'default' ? 8 : 7);
    const taken = await tried(pods, namespace);
    expect([taken.stderr, taken.status]).toEqual(['', 0]);
  });

it('a restricted namespace refuses a pod that is not restricted', async () => {
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'root' },
    spec: { containers: [{ name: 'a', image: 'a' }] },
  };
  const said = await tried([pod], 'slipway');
  expect(said.status).not.toBe(0);
  expect(said.stderr).toContain('violates PodSecurity "restricted');
});

it('the manifests without Helm pass as well', async () => {
  const files = ['migrate.yaml', 'models.yaml', 'slipway.yaml'];
  const objects = files.flatMap((file) => objectsOf(readFileSync(path.join(RAW, file), 'utf8')));
  const said = await tried(objects, 'slipway');
  expect([said.stderr, said.status]).toEqual(['', 0]);
});

it('the accounts have exactly the rights of the rules in namespaces of models, and none elsewhere', async () => {
  const namespace = 'chart-multi-tenant';
  const [values, set] = [
    [exampleValues().get('multi-tenant')!],
    ['targets.usesGroups=true', 'targets.usesInferencePools=true'],
  ];
  const objects = await renderChart({ helm, namespace, values, set });
  const rights = objects.filter(({ kind }) => ['Role', 'RoleBinding', 'ServiceAccount'].includes(kind));
  expect(rights.map(nameOf)).toContain('Role chart-multi-tenant-slipway-worker');
  expect(await apply(placed(rights, namespace))).toMatchObject({ status: 0 });
  const can = async (account: string, where: string[], verb: string, resource: string): Promise<string> => {
    const who = `--as=system:serviceaccount:${namespace}:slipway-${account}`;
    return (await run(['auth', 'can-i', verb, resource, who, ...where])).stdout.trim();
  };
  const answers = new Map<string, string>();
  // This cluster has neither type, and kubectl answers "no" for unknown types. The driver's own tests use these rights.
  const foreign = ['leaderworkerset.x-k8s.io', 'inference.networking.k8s.io'];
  const known = chartRules().filter(({ apiGroups }) => !foreign.includes(apiGroups[0]!));
  for (const { apiGroups, resources, verbs } of known)
    for (const verb of verbs) {
      const [group, resource] = [apiGroups[0]!, resources[0]!];
      const [name, sub] = resource.split('/');
      const asked = [group === '' ? name! : `${name}.${group}`, ...(sub ? [`--subresource=${sub}`] : [])];
      const [what, ...flags] = asked;
      answers.set(`${verb} ${resource}`, await can('worker', ['-n', 'models-acme', ...flags], verb, what!));
    }
  expect([...answers].filter(([, answer]) => answer !== 'yes')).toEqual([]);
  expect(answers.size).toBeGreaterThan(10);
  const inAcme = ['-n', 'models-acme'];
  for (const [account, where, verb, resource] of [
    ['worker', inAcme, 'get', 'secrets'],
    ['worker', inAcme, 'create', 'pods'],
    ['worker', inAcme, 'update', 'deployments.apps'],
    ['worker', ['-n', namespace], 'list', 'pods'],
    ['worker', ['-n', 'kube-system'], 'list', 'pods'],
    ['worker', [], 'list', 'nodes'],
    ['api', inAcme, 'list', 'pods'],
    ['gateway', inAcme, 'list', 'pods'],
  ] as [string, string[], string, string][])
    expect([account, verb, resource, where, await can(account, where, verb, resource)]).toEqual([
      ...[account, verb, resource, where],
      'no',
    ]);
});
