import { expect, it } from '@jest/globals';
import { observeUntil } from '@slipway/target-driver/conformance';
import { engineConfig, INSTALLATION, instanceSpec, NAMESPACE, until } from '../../test/driver-bench.js';
import { groupSpec, groupTarget, member, UP } from '../../test/group-rows.js';
import { startStubApi, type StubRequest } from '../../test/stub-api/index.js';
import { DEPLOYMENTS, INFERENCE_POOLS, LEADER_WORKER_SETS, PDBS, PODS, SERVICES } from '../api/kinds.js';
import type { Deployment, LeaderWorkerSet, Pod } from '../api/objects.js';
import { KubernetesDriver } from './kubernetes-driver.js';
import { neededRules } from '../health/target-health-rules.js';

/** Requests that every account may make, about itself or the server. */
const FREE = new Set(['selfsubjectaccessreviews', 'selfsubjectrulesreviews', 'types', 'version']);

/** The rights that a server checks before it answers. */
function rightsOf({ verb, plural, query }: StubRequest): string[] {
  if (FREE.has(plural)) return [];
  if (verb === 'log') return ['get pods/log'];
  if (verb !== 'apply') return [`${verb} ${plural}`];
  // An apply of a missing object is also a creation. A stop creates nothing.
  return [`patch ${plural}`, ...(query.fieldManager === 'slipway' ? [`create ${plural}`] : [])];
}

it('the driver uses each right that it requires, and requires each that it uses', async () => {
  const api = await startStubApi({ log: () => ['2026-03-01T10:00:00Z listening'] });
  const keyed = engineConfig({ env: { SIM_KEY: '{instance_key}' } });
  const target = {
    ...groupTarget,
    engines: { ...groupTarget.engines, sim: keyed },
    inference_pool: { endpoint_picker: { name: '{pool}-epp', port: 9_002, failure_mode: 'FailClose' as const } },
    retain_seconds: -1,
  };
  const host = { installation: async () => INSTALLATION, pausePoint: async () => undefined };
  const options = { cluster: api.cluster(), revisions: { sweepMs: 20 }, groups: { lateMs: 0 } };
  const driver = new KubernetesDriver(target, host, options);
  const pod = instanceSpec({ instanceId: 'ins_0190cafe', instanceKey: 'k'.repeat(43) });

  // One pod and one group, with a worker that was created late.
  await Promise.all([driver.provision(pod), driver.provision(groupSpec)]);
  const { metadata, spec } = api.store.list<Deployment>(DEPLOYMENTS, NAMESPACE)[0]!.spec!.template!;
  const common = {
    metadata: { ...metadata, name: 'alone', namespace: NAMESPACE },
    spec: { ...spec, nodeName: 'node-0' },
  };
  api.store.put<Pod>(PODS, { ...common, status: { phase: 'Running', podIP: '10.1.2.9', ...UP } });
  for (const index of [0, 1]) api.store.put<Pod>(PODS, member(index, UP));
  await observeUntil(driver, pod, 'ready');
  api.store.put<Pod>(PODS, member(2, UP));
  const asked = (verb: string, plural: string) =>
    api.requests.filter((one) => one.verb === verb && one.plural === plural).length;
  const looking = (is: () => boolean) =>
    until(async () => {
      await driver.list();
      await Promise.all([driver.observe(pod), driver.observe(groupSpec)]);
      return is();
    }, Boolean);
  await looking(() => asked('delete', 'pods') > 0 && api.store.list(INFERENCE_POOLS).length > 0);
  const lines = driver.logs(pod.instanceId, {
    tail: 1,
    stream: 'both',
    previous: false,
    follow: false,
    signal: AbortSignal.timeout(5_000),
  });
  for await (const { text } of lines) expect(text).toBe('listening');

  // Their ends, and the deletion of their marks.
  for (const { instanceId } of [pod, groupSpec]) expect(await driver.terminate(instanceId)).toBe('stopping');
  for (const { metadata: gone } of api.store.list(PODS, NAMESPACE)) api.store.remove(PODS, NAMESPACE, gone.name);
  const [group] = api.store.list<LeaderWorkerSet>(LEADER_WORKER_SETS, NAMESPACE);
  api.store.change<LeaderWorkerSet>(LEADER_WORKER_SETS, NAMESPACE, group!.metadata.name, (one) => {
    one.status = { replicas: 0, conditions: [{ type: 'Available', status: 'True' }] };
  });
  await until(
    async () => {
      await driver.list();
      return [DEPLOYMENTS, LEADER_WORKER_SETS, SERVICES, PDBS, INFERENCE_POOLS].flatMap((kind) => api.store.list(kind));
    },
    (left) => left.length === 0,
  );
  const rules = neededRules({ writesSecrets: true, usesGroups: true, usesInferencePools: true });
  const needed = rules.map(
    ({ verb, resource, subresource }) => `${verb} ${[resource, subresource].filter(Boolean).join('/')}`,
  );
  expect([...new Set(api.requests.flatMap(rightsOf))].sort()).toEqual(needed.sort());
  await driver.close();
  await api.close();
});
