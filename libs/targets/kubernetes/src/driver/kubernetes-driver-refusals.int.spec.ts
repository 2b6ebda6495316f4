import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import type { InstanceSpec, Observation } from '@slipway/target-driver';
import { terminateUntilGone } from '@slipway/target-driver/conformance';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  NAMESPACES,
  RESOURCE_QUOTAS,
  SERVICES,
  TestBed,
  VALIDATING_WEBHOOKS,
} from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { BedBench } from '../../test/bed-bench.js';
import { until } from '../../test/driver-bench.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(240_000);
const WITHIN_MS = 90_000;

let bed: TestBed;
let bench: BedBench;
let driver: KubernetesDriver;
beforeAll(async () => {
  if (hasKube) bed = await TestBed.open({ nodes: [{}] });
});
afterAll(() => bed?.close());
beforeEach(async () => {
  if (!hasKube) return;
  bench = await BedBench.create(bed);
  bench.setHealthy(true);
  driver = bench.driver({}, { revisions: { sweepMs: 1_000 } });
});
afterEach(() => bench?.close());

/** One check by the caller of the driver: what is absent is started. */
async function look(spec: InstanceSpec, by = driver): Promise<Observation> {
  const seen = await by.observe(spec);
  if (seen.state === 'absent')
    await by.provision(spec).catch((error: { reason?: string }) => expect(error.reason).toBeDefined());
  return seen;
}
const becomes = (spec: InstanceSpec, is: (seen: Observation) => boolean, by = driver) =>
  until(() => look(spec, by), is, WITHIN_MS);
const isReady = ({ state }: Observation) => state === 'ready';

/** Creates a quota on objects, and returns how to raise it. */
async function limited(hard: Record<string, string>): Promise<(hard: Record<string, string>) => Promise<unknown>> {
  const where = { namespace: bench.namespace, name: 'objects' };
  await bed.client.create(RESOURCE_QUOTAS, { metadata: where, spec: { hard } });
  await until(
    async () => (await bed.client.get(RESOURCE_QUOTAS, where))['status']?.hard,
    (counted) => counted !== undefined,
    WITHIN_MS,
  );
  return (raised) => bed.client.merge(RESOURCE_QUOTAS, where, { spec: { hard: raised } });
}

kubeIt(
  'a unit beyond a quota on Deployments waits with the words of the server, and starts when it is raised',
  async () => {
    const raise = await limited({ 'count/deployments.apps': '0' });
    const spec = bench.spec();
    const seen = await becomes(spec, ({ reason }) => reason === 'quota_exceeded');
    expect(seen).toMatchObject({ state: 'starting', message: expect.stringContaining('exceeded quota: objects') });
    expect(driver.health()).toMatchObject({
      state: 'ok',
      refused: expect.stringMatching(
        /^1 object of kind Deployment cannot be created in namespace test-.*exceeded quota/,
      ),
    });
    await raise({ 'count/deployments.apps': '1' });
    await becomes(spec, isReady);
    expect(driver.health()).toEqual({ state: 'ok' });
  },
);

kubeIt('a Service and a budget beyond a quota are reported with the instance, and made when it is raised', async () => {
  const raise = await limited({ 'count/services': '0', 'count/poddisruptionbudgets.policy': '0' });
  const spec = bench.spec();
  const { message = '' } = await becomes(
    spec,
    (seen) => isReady(seen) && /Service .*; PodDis|PodDis.*; Service /.test(seen.message ?? ''),
  );
  expect(message.match(/exceeded quota: objects/g)).toHaveLength(2);
  expect(driver.health().refused).toMatch(/1 object of kind PodDisruptionBudget cannot be created in namespace/);
  await raise({ 'count/services': '1', 'count/poddisruptionbudgets.policy': '1' });
  await becomes(spec, ({ message: words }) => words === undefined);
  const { namespace } = bench;
  const made = await Promise.all([SERVICES, DISRUPTION_BUDGETS].map((kind) => bed.client.list(kind, { namespace })));
  expect(made.map(({ items }) => items.length)).toEqual([1, 1]);
  expect(driver.health()).toEqual({ state: 'ok' });
});

kubeIt('a Secret beyond a quota delays the start, and is made for the same unit when it is raised', async () => {
  const raise = await limited({ 'count/secrets': '0' });
  driver = bench.driver({ engines: { sim: bench.steered({ env: { SIM_KEY: '{instance_key}' } }) } });
  const spec = bench.spec({ instanceKey: 'k'.repeat(43) });
  await becomes(spec, ({ reason }) => reason === 'quota_exceeded');
  const units = async () => (await bed.client.list(DEPLOYMENTS, { namespace: bench.namespace })).items;
  const [before] = await units();
  await raise({ 'count/secrets': '1' });
  await becomes(spec, isReady);
  expect((await units()).map(({ metadata }) => metadata.uid)).toEqual([before!.metadata.uid]);
});

kubeIt('marks of ended units make room for a unit that a quota on Deployments refuses', async () => {
  await limited({ 'count/deployments.apps': '2' });
  for (const instanceId of ['ins_aaaa0001', 'ins_aaaa0002']) {
    const spec = bench.spec({ instanceId });
    await becomes(spec, isReady);
    await terminateUntilGone(driver, instanceId, WITHIN_MS);
  }
  const { namespace } = bench;
  for (const { metadata } of (await bed.client.list(DEPLOYMENTS, { namespace })).items)
    await bed.client.merge(
      DEPLOYMENTS,
      { namespace, name: metadata.name! },
      { metadata: { annotations: { 'slipway.dev/stopped-at': new Date(Date.now() - 180_000).toISOString() } } },
    );
  const spec = bench.spec({ instanceId: 'ins_bbbb0001' });
  await until(
    async () => {
      await driver.list();
      return look(spec);
    },
    isReady,
    WITHIN_MS,
  );
});

kubeIt('a LimitRange and a missing request are refusals with the words of the server', async () => {
  const { namespace } = bench;
  await bed.client.create(
    { api: 'v1', plural: 'limitranges' },
    { metadata: { name: 'small', namespace }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } },
  );
  driver = bench.driver({ engines: { sim: bench.steered({ resources: { limits: { cpu: '2' } } }) } });
  const seen = await becomes(bench.spec(), ({ reason }) => reason === 'admission_denied');
  expect(seen.message).toContain('maximum cpu usage per Container is 1');
});

kubeIt('a webhook that does not answer is the trouble of the cluster, and not of the template', async () => {
  const { namespace } = bench;
  const name = `${namespace}.example.com`;
  const selected = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  await bed.client.create(VALIDATING_WEBHOOKS, {
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name,
        clientConfig: { url: 'https://127.0.0.1:1/' },
        rules: [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }],
        namespaceSelector: selected,
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        timeoutSeconds: 1,
      },
    ],
  });
  const spec = bench.spec();
  const seen = await becomes(spec, ({ reason }) => reason === 'target_unavailable');
  expect(seen).toMatchObject({ state: 'starting', message: expect.stringContaining('failed calling webhook') });
  expect(driver.health().refused).toContain('failed calling webhook');
  await bed.client.remove(VALIDATING_WEBHOOKS, { name });
  await becomes(spec, isReady);
});

kubeIt(
  'a policy that denies a unit is a refusal with its words, and a unit that it does not let us stop is reported',
  async () => {
    const { namespace } = bench;
    const kinds = { policy: 'validatingadmissionpolicies', binding: 'validatingadmissionpolicybindings' };
    const api = 'admissionregistration.k8s.io/v1';
    const deny = async (operation: string, expression: string) => {
      const name = `${namespace}-${operation.toLowerCase()}`;
      await bed.client.create(
        { api, plural: kinds.policy },
        {
          kind: 'ValidatingAdmissionPolicy',
          metadata: { name },
          spec: {
            failurePolicy: 'Fail',
            matchConstraints: {
              resourceRules: [
                { apiGroups: ['apps'], apiVersions: ['v1'], operations: [operation], resources: ['deployments'] },
              ],
            },
            validations: [{ expression }],
          },
        },
      );
      await bed.client.create(
        { api, plural: kinds.binding },
        {
          kind: 'ValidatingAdmissionPolicyBinding',
          metadata: { name },
          spec: {
            policyName: name,
            validationActions: ['Deny'],
            matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } },
          },
        },
      );
      return async () => {
        for (const plural of [kinds.binding, kinds.policy]) await bed.client.remove({ api, plural }, { name });
      };
    };
    const allow = await deny('CREATE', "has(object.metadata.labels) && 'owner' in object.metadata.labels");
    // The API server needs a moment to know the policy, so the first ones may be accepted.
    let made = 0;
    const next = () => bench.spec({ instanceId: `ins_${String((made += 1)).padStart(8, '0')}` });
    let spec = next();
    const seen = await until(
      async () => {
        const now = await look(spec);
        if (now.state === 'ready') spec = next();
        return now;
      },
      ({ reason }) => reason === 'admission_denied',
      WITHIN_MS,
    );
    expect(seen.message).toMatch(/ValidatingAdmissionPolicy .* denied request/);
    await allow();
    await becomes(spec, isReady);
    const mayStop = await deny('UPDATE', 'false');
    const [unit] = (await bed.client.list(DEPLOYMENTS, { namespace })).items.filter(
      ({ metadata }) => metadata.labels?.['slipway.dev/instance'] === spec.instanceId,
    );
    const edit = () =>
      bed.client
        .merge(
          DEPLOYMENTS,
          { namespace, name: unit!.metadata.name! },
          { metadata: { annotations: { now: `${Date.now()}` } } },
        )
        .then(() => '', String);
    await until(edit, (words) => words.includes('denied request'), WITHIN_MS);
    await expect(driver.terminate(spec.instanceId)).rejects.toThrow('denied request');
    expect(driver.health().refused).toMatch(/^1 object of kind Deployment cannot be stopped in namespace/);
    await mayStop();
    await until(
      () => driver.terminate(spec.instanceId).catch(() => 'refused'),
      (state) => state === 'gone',
      WITHIN_MS,
    );
    expect(driver.health()).toEqual({ state: 'ok' });
  },
);

kubeIt('a namespace that is being deleted is reported until it is back', async () => {
  const { namespace } = bench;
  const where = { namespace, name: 'held' };
  await bed.client.create(
    { api: 'v1', plural: 'configmaps' },
    { metadata: { ...where, finalizers: ['slipway.test/held'] } },
  );
  await bed.client.remove(NAMESPACES, { name: namespace });
  const spec = bench.spec();
  const { message = '' } = await until(
    () => look(spec).then((seen) => ({ ...seen, message: driver.health().refused ?? '' })),
    ({ message: words }) => words.includes('being terminated'),
    WITHIN_MS,
  ).catch(async (error: unknown) => {
    // The Role may be gone first, and then the target lacks its rights.
    if (driver.health().state === 'degraded') return { message: driver.health().message };
    throw error;
  });
  expect(message).toMatch(/being terminated|is not allowed to/);
  await bed.client.merge({ api: 'v1', plural: 'configmaps' }, where, { metadata: { finalizers: null } });
});
