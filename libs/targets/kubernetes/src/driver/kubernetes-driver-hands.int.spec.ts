import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import type { InstanceSpec, Observation } from '@slipway/target-driver';
import { observeUntil } from '@slipway/target-driver/conformance';
import {
  DEPLOYMENTS,
  DISRUPTION_BUDGETS,
  PODS,
  SERVICES,
  TestBed,
  type KubeObject,
  type Pod,
  type Resource,
} from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { BedBench } from '../../test/bed-bench.js';
import { until } from '../../test/driver-bench.js';
import type { KubernetesDriver } from './kubernetes-driver.js';

jest.setTimeout(180_000);
const WITHIN_MS = 60_000;
/** The checks of pods that lost their labels come once a minute. */
const clock = { shorterRetries: 20 };

let bed: TestBed;
let bench: BedBench;
let driver: KubernetesDriver;
let spec: InstanceSpec;
let before: Observation;
beforeAll(async () => {
  if (hasKube) bed = await TestBed.open({ nodes: [{}, {}] });
});
afterAll(() => bed?.close());
beforeEach(async () => {
  if (!hasKube) return;
  bench = await BedBench.create(bed);
  bench.setHealthy(true);
  driver = bench.driver({}, { watch: clock, revisions: { paceMs: 100 } });
  spec = bench.spec();
  await driver.provision(spec);
  before = await observeUntil(driver, spec, 'ready', WITHIN_MS);
});
afterEach(() => bench?.close());

const sees = (is: (seen: Observation) => boolean) => until(() => driver.observe(spec), is, WITHIN_MS);
const all = async <T extends KubeObject>(kind: Resource) =>
  (await bed.client.list<T>(kind, { namespace: bench.namespace })).items;
const nameOf = async (kind: Resource) => (await all(kind))[0]!.metadata.name!;
const isOver = ({ drift }: Observation) => drift === undefined;
/** Runs the command that a message ends with. */
const obey = (message = '') => bench.kubectl(/kubectl .*$/.exec(message)![0]);

/** Changes of a Deployment by hand, the drift that they cause, and how they are undone. */
const TO_UNITS: [what: string, command: string, said: RegExp, undo: string][] = [
  [
    'scaled',
    'scale deployment UNIT --replicas=3',
    /it has 3 replicas \(spec\.replicas by kubectl\)/,
    'scale deployment UNIT --replicas=1',
  ],
  ['paused', 'rollout pause deployment UNIT', /spec\.paused by kubectl/, 'rollout resume deployment UNIT'],
  ['labelled', 'label deployment UNIT team=a', /metadata\.labels\.team by kubectl/, 'label deployment UNIT team-'],
  [
    'annotated',
    'annotate deployment UNIT note=a',
    /metadata\.annotations\.note by kubectl/,
    'annotate deployment UNIT note-',
  ],
  [
    'held by a finalizer',
    `patch deployment UNIT --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'`,
    /metadata\.finalizers\[example\.com\/hold\] by kubectl/,
    `patch deployment UNIT --type=merge -p '{"metadata":{"finalizers":null}}'`,
  ],
  [
    'given an owner',
    `patch deployment UNIT --type=merge -p '{"metadata":{"ownerReferences":[OWNER]}}'`,
    /metadata\.ownerReferences\[.*\]/,
    `patch deployment UNIT --type=merge -p '{"metadata":{"ownerReferences":null}}'`,
  ],
];

for (const [what, command, said, undo] of TO_UNITS)
  kubeIt(
    `a unit that is ${what} by hand is reported, serves on, and is reported no more when that is undone`,
    async () => {
      const unit = await nameOf(DEPLOYMENTS);
      const account = await bed.client.get(
        { api: 'v1', plural: 'serviceaccounts' },
        { namespace: bench.namespace, name: 'default' },
      );
      const owner = JSON.stringify({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        name: 'default',
        uid: account.metadata.uid,
      });
      const run = (text: string) => bench.kubectl(`kubectl ${text.replace('UNIT', unit).replace('OWNER', owner)}`);
      await run(command);
      const changed = await sees(({ drift }) => drift !== undefined);
      expect(changed.drift).toMatch(said);
      expect(changed).toMatchObject({ state: 'ready', incarnation: before.incarnation });
      await run(undo);
      const after = await sees(isOver);
      expect(after).toMatchObject({ state: 'ready', incarnation: before.incarnation });
      expect((await bench.driver().observe(spec)).drift).toBeUndefined();
    },
  );

kubeIt(
  'a unit whose template was edited moves its instance, and is reported until the template is as before',
  async () => {
    const unit = await nameOf(DEPLOYMENTS);
    await bench.kubectl(`kubectl set env deployment ${unit} NOTE=a`);
    const { drift } = await sees(
      (seen) => seen.drift !== undefined && seen.state === 'ready' && seen.incarnation !== before.incarnation,
    );
    expect(drift).toMatch(/spec\.template\.spec\.containers\[engine\]\.env.* by kubectl/);
    expect((await driver.observe(spec)).lastExit).toMatchObject({ reason: 'deleted' });
    await bench.kubectl(`kubectl set env deployment ${unit} NOTE-`);
    await sees((seen) => isOver(seen) && seen.state === 'ready');
  },
);

for (const [what, command] of [
  ['a pod that is deleted', 'delete pod POD --wait=false'],
  ['a pod that is deleted by force', 'delete pod POD --grace-period=0 --force'],
  ['a deleted ReplicaSet', 'delete replicaset --all --wait=false'],
] as const)
  kubeIt(`${what} by hand is a move of its instance and no crash`, async () => {
    await bench.kubectl(`kubectl ${command.replace('POD', await nameOf(PODS))}`);
    const after = await sees(({ state, incarnation }) => state === 'ready' && incarnation !== before.incarnation);
    expect(after).toMatchObject({ restarts: 0, generation: 1, lastExit: { reason: 'deleted' } });
    expect(after.drift).toBeUndefined();
  });

kubeIt(
  'a pod that is deleted while it starts is a move and no crash, and one whose engine crashed is a crash',
  async () => {
    bench.setHealthy(false);
    await bench.kubectl(`kubectl delete pod ${await nameOf(PODS)} --wait=false`);
    const next = await sees(({ incarnation }) => incarnation !== undefined && incarnation !== before.incarnation);
    await bench.kubectl(`kubectl delete pod ${(await freshPod()).metadata.name} --wait=false`);
    const third = await sees(
      ({ incarnation }) => incarnation !== undefined && ![before, next].some((one) => one.incarnation === incarnation),
    );
    expect(third.lastExit).toMatchObject({ reason: 'deleted' });
  },
);
const freshPod = async () =>
  (await all<Pod>(PODS)).filter(({ metadata }) => metadata.deletionTimestamp === undefined).at(-1)!;

for (const label of ['slipway.dev/instance', 'slipway.dev/installation', 'slipway.dev/generation'])
  kubeIt(
    `a pod that lost its label ${label} is replaced and reported, and the printed command removes it`,
    async () => {
      const pod = await nameOf(PODS);
      await bench.kubectl(`kubectl label pod ${pod} ${label}-`);
      const seen = await sees(
        ({ drift, state, incarnation }) =>
          drift !== undefined && state === 'ready' && incarnation !== before.incarnation,
      );
      expect(seen.drift).toContain(`pod ${pod} lost the labels of its unit`);
      expect(seen.lastExit).toMatchObject({ reason: 'deleted' });
      await obey(seen.drift);
      expect(await bed.client.find(PODS, { namespace: bench.namespace, name: pod })).toBeUndefined();
      await sees(isOver);
      expect((await driver.observe(spec)).state).toBe('ready');
    },
  );

for (const label of ['slipway.dev/instance', 'slipway.dev/target', 'slipway.dev/generation', 'slipway.dev/revision'])
  kubeIt(`a unit gets its label ${label} back, and no second unit is made`, async () => {
    const unit = await nameOf(DEPLOYMENTS);
    await bench.kubectl(`kubectl label deployment ${unit} --overwrite ${label}=other`);
    const labelOf = async () => (await all(DEPLOYMENTS))[0]!.metadata.labels![label];
    await until(
      async () => {
        expect((await driver.observe(spec)).state).toBe('ready');
        return labelOf();
      },
      (value) => value !== 'other',
      WITHIN_MS,
    );
    await sees(isOver);
    expect(await all(DEPLOYMENTS)).toHaveLength(1);
    expect((await driver.observe(spec)).incarnation).toBe(before.incarnation);
  });

for (const [what, command, said] of [
  ['an image', `set image pod POD engine=test/sim`, /spec\.containers\[engine\]\.image by kubectl/],
  [
    'a finalizer',
    `patch pod POD --type=merge -p '{"metadata":{"finalizers":["example.com/hold"]}}'`,
    /metadata\.finalizers\[example\.com\/hold\] by kubectl/,
  ],
  [
    'an ephemeral container',
    'debug POD --image=test/absent --profile=general --quiet',
    /ephemeralContainers|ephemeral container/,
  ],
] as const)
  kubeIt(`${what} that a pod got by hand is reported`, async () => {
    const pod = await nameOf(PODS);
    await bench.kubectl(`kubectl ${command.replace('POD', pod)}`);
    expect((await sees(({ drift }) => drift !== undefined)).drift).toMatch(said);
    await bench.kubectl(`kubectl patch pod ${pod} --type=merge -p '{"metadata":{"finalizers":null}}'`);
    await bench.kubectl(`kubectl delete pod ${pod} --wait=false`);
    await sees((seen) => isOver(seen) && seen.state === 'ready');
  });

kubeIt('a pod whose unit was deleted alone is reported, and the printed command removes it', async () => {
  await bench.kubectl(`kubectl delete deployment ${await nameOf(DEPLOYMENTS)} --cascade=orphan`);
  const { message } = await sees(({ state }) => state === 'stopping');
  await obey(message);
  await sees(({ state }) => state === 'absent');
});

/** Changes of shared objects, all of which are undone. */
const TO_SHARED: [what: string, kind: Resource, patch: object][] = [
  ['another key of the selector', SERVICES, { spec: { selector: { team: 'a' } } }],
  ['unready addresses', SERVICES, { spec: { publishNotReadyAddresses: true } }],
  ['session affinity', SERVICES, { spec: { sessionAffinity: 'ClientIP' } }],
  ['a label', SERVICES, { metadata: { labels: { team: 'a' } } }],
  ['a label of ours', SERVICES, { metadata: { labels: { 'slipway.dev/revision': 'a' } } }],
  ['a label by which it is found', SERVICES, { metadata: { labels: { 'slipway.dev/target': null } } }],
  ['an annotation', DISRUPTION_BUDGETS, { metadata: { annotations: { note: 'a' } } }],
  ['a smaller number of pods', DISRUPTION_BUDGETS, { spec: { maxUnavailable: null, minAvailable: 1 } }],
  ['another policy', DISRUPTION_BUDGETS, { spec: { unhealthyPodEvictionPolicy: 'IfHealthyBudget' } }],
  ['a finalizer', DISRUPTION_BUDGETS, { metadata: { finalizers: ['example.com/hold'] } }],
];

kubeIt('whatever a person adds to the objects of a revision, takes from them or changes, is undone', async () => {
  const shown = async (kind: Resource) => {
    const [object] = await all(kind);
    if (!object) return '';
    const { labels, annotations = {}, finalizers } = object.metadata;
    return JSON.stringify({ labels, annotations, finalizers, spec: object['spec'] });
  };
  for (const [what, kind, patch] of TO_SHARED) {
    const original = await until(
      async () => {
        await driver.observe(spec);
        return shown(kind);
      },
      (text) => text !== '',
      WITHIN_MS,
    );
    const name = await nameOf(kind);
    await bench.kubectl(`kubectl patch ${kind.plural} ${name} --type=merge -p '${JSON.stringify(patch)}'`);
    const since = Date.now();
    const now = await until(
      async () => {
        await driver.observe(spec);
        return { text: await shown(kind), isLate: Date.now() - since > 30_000 };
      },
      ({ text, isLate }) => text === original || isLate,
      WITHIN_MS,
    );
    expect([what, now.text, driver.health()]).toEqual([what, original, { state: 'ok' }]);
  }
});
