import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { INSTALLATION, instanceSpec, NAMESPACE, targetConfig, until } from '../../test/driver-bench.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { deploymentOf } from '../../test/target-fixture.js';
import { PDBS, SERVICES, type KubeKind } from '../api/kinds.js';
import type { KubeObject, PodDisruptionBudget } from '../api/objects.js';
import { KubeApi } from '../api/requests.js';
import { RefusedObjects } from '../health/refused-objects.js';
import { RevisionKeeper } from './revision-keeper.js';
import type { RevisionObjectSetOptions } from './revision-object-set.js';
import type { Unit } from '../manifests/unit-kind.js';

const config = targetConfig();
const writer = { installation: INSTALLATION };

let stub: StubApi;
let api: KubeApi;
let revisions: RevisionKeeper;
let units: Unit[];
let troubles: unknown[];
let refused: RefusedObjects;
beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster(), { shorterPauses: 50 });
  [units, troubles, refused] = [[], [], new RefusedObjects()];
  revisions = revisionObjects();
});
afterEach(async () => {
  await revisions.close();
  await api.close();
  await stub.close();
});

function revisionObjects(more: Partial<RevisionObjectSetOptions & { sweepMs: number }> = {}): RevisionKeeper {
  const seen = {
    all: () => [['ins_1', { units, pods: [] }]].values() as never,
    has: () => true,
    isSyncedIn: () => true,
  };
  const onTrouble = (error: unknown) => void troubles.push(error);
  const clock = { shorterRetries: 50 };
  return new RevisionKeeper(api, seen, { labelSelector: '', writer, onTrouble, refused, sweepMs: 0, clock, ...more });
}

/** Like the driver with each observation. */
function look(generation: number): void {
  const spec = instanceSpec({ generation, scaling: { min_replicas: 2, max_replicas: 2 } });
  const unit = deploymentOf(spec, config, writer);
  units = [{ ...unit, metadata: { ...unit.metadata, uid: `uid-${generation}` } }];
  revisions.keep(spec, config, units[0]!);
}

const there = (): string[] =>
  [SERVICES, PDBS].flatMap((kind) => stub.store.list(kind).map(({ metadata }) => `${kind.plural}/${metadata.name}`));
const asked = (verb: string) => stub.requests.filter((one) => one.verb === verb);
/** Resolves when all objects exist and the watches know them, which the next steps rely on. */
async function complete(generation: number): Promise<string[]> {
  await until(
    () => {
      look(generation);
      return [there().length, stub.sockets.watches];
    },
    (both) => both.join() === '2,2',
  );
  await revisions.settled();
  return there();
}
const sweptUntil = (is: () => boolean): Promise<boolean> =>
  until(async () => {
    revisions.sweep();
    await revisions.settled();
    return is();
  }, Boolean);
const budget = () => stub.store.list<PodDisruptionBudget>(PDBS)[0]!;
const edit = (most: number) =>
  stub.store.change<PodDisruptionBudget>(PDBS, NAMESPACE, budget().metadata.name, ({ spec }) => {
    spec!.maxUnavailable = most;
  });

it('creates shared objects again with the next unit, if a sweep removed them between two units', async () => {
  const shared = await complete(1);
  units = [];
  await sweptUntil(() => there().length === 0);
  expect(await complete(2)).toEqual(shared);
});

it('sends no request while nothing happens, however often units are observed and swept', async () => {
  await complete(1);
  stub.forgetRequests();
  for (let time = 0; time < 50; time += 1) {
    look(1);
    revisions.sweep();
    await revisions.settled();
  }
  expect(stub.requests).toEqual([]);
});

it('restores edited and removed objects with the next observation, without a list', async () => {
  await revisions.close();
  revisions = revisionObjects({ sweepMs: 600_000, paceMs: 0 });
  const shared = await complete(1);
  stub.forgetRequests();
  edit(7);
  for (const { metadata } of stub.store.list(SERVICES)) stub.store.remove(SERVICES, NAMESPACE, metadata.name);
  await until(
    () => {
      look(1);
      return [budget().spec?.maxUnavailable, there()];
    },
    ([most, all]) => most === 1 && String(all) === String(shared),
  );
  expect(asked('list')).toEqual([]);
});

it('does not compete with another client: it waits between two writes of one object', async () => {
  await revisions.close();
  revisions = revisionObjects({ paceMs: 1_000 });
  await complete(1);
  stub.forgetRequests();
  for (let time = 0; time < 2; time += 1) {
    edit(7);
    await until(
      () => {
        look(1);
        return budget().spec?.maxUnavailable;
      },
      (most) => most === 1,
    );
  }
  const [first, second] = asked('apply');
  expect(second!.at - first!.at).toBeGreaterThan(990);
});

it.each<[string, KubeKind, (object: KubeObject) => void]>([
  ['another key of a selector', SERVICES, ({ spec }) => ((spec as any).selector.team = 'a')],
  [
    'another port',
    SERVICES,
    ({ spec }) => (spec as any).ports.push({ name: 'x', port: 1, targetPort: 1, protocol: 'TCP' }),
  ],
  ['unready addresses', SERVICES, ({ spec }) => ((spec as any).publishNotReadyAddresses = true)],
  [
    'a mapping with settings',
    SERVICES,
    ({ spec }) => ((spec as any).sessionAffinityConfig = { clientIP: { timeoutSeconds: 5 } }),
  ],
  [
    'a smaller number instead of ours',
    PDBS,
    ({ spec }) => Object.assign(spec as any, { maxUnavailable: undefined, minAvailable: 2 }),
  ],
  ['another value', PDBS, ({ spec }) => Object.assign(spec as any, { unhealthyPodEvictionPolicy: 'IfHealthyBudget' })],
  ['a label', PDBS, ({ metadata }) => (metadata.labels!['team'] = 'a')],
  ['a label of ours', PDBS, ({ metadata }) => (metadata.labels!['slipway.dev/revision'] = 'a')],
  ['an annotation', SERVICES, ({ metadata }) => (metadata.annotations = { note: 'a' })],
  ['a finalizer', PDBS, ({ metadata }) => (metadata.finalizers = ['a/b'])],
  [
    'an owner',
    PDBS,
    ({ metadata }) => (metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'u' }]),
  ],
])('removes what another client added: %s', async (_what, kind, change) => {
  await complete(1);
  const [
    {
      metadata: { name },
    },
  ] = stub.store.list(kind) as [KubeObject];
  const shown = () => {
    const { metadata, spec } = stub.store.get(kind, NAMESPACE, name)!;
    const { labels, annotations, finalizers, ownerReferences } = metadata;
    const kept = JSON.parse(JSON.stringify({ labels, annotations, finalizers, ownerReferences, spec }));
    // The stub keeps a mapping whose fields were all removed.
    if (kept.annotations && Object.keys(kept.annotations).length === 0) delete kept.annotations;
    for (const [key, one] of Object.entries(kept.spec))
      if (JSON.stringify(one) === JSON.stringify({ clientIP: {} })) delete kept.spec[key];
    return kept;
  };
  const before = shown();
  await revisions.close();
  revisions = revisionObjects({ paceMs: 0 });
  stub.store.change(kind, NAMESPACE, name, change, 'kubectl-edit');
  expect(shown()).not.toEqual(before);
  await until(
    () => {
      look(1);
      return JSON.stringify(shown());
    },
    (now) => now === JSON.stringify(before),
  );
  await revisions.settled();
  stub.forgetRequests();
  for (let time = 0; time < 5; time += 1) look(1);
  await revisions.settled();
  expect(stub.requests.filter(({ verb }) => verb === 'apply' || verb === 'patch')).toEqual([]);
});

it('writes ever more rarely while another client repeats its change', async () => {
  await revisions.close();
  revisions = revisionObjects({ paceMs: 100 });
  await complete(1);
  stub.forgetRequests();
  for (let time = 0; time < 4; time += 1) {
    edit(7);
    await until(
      () => {
        look(1);
        return budget().spec?.maxUnavailable;
      },
      (most) => most === 1,
    );
  }
  const times = asked('apply').map(({ at }) => at);
  const pauses = times.slice(1).map((at, index) => at - times[index]!);
  expect(pauses).toHaveLength(3);
  for (const [index, pause] of pauses.entries()) expect(pause).toBeGreaterThanOrEqual(100 * 2 ** (index + 1) - 5);
});

it('works without the right to watch: it creates new objects, and removes each unneeded one once', async () => {
  stub.forbid({ verb: 'watch' });
  await until(
    () => {
      look(1);
      return there().length;
    },
    (count) => count === 2,
  );
  units = [];
  await sweptUntil(() => there().length === 0);
  for (let time = 0; time < 5; time += 1) await sweptUntil(() => true);
  expect(asked('delete')).toHaveLength(2);
  await until(
    () => {
      look(2);
      return there().length;
    },
    (count) => count === 2,
  );
  expect(String(troubles[0])).toContain('cannot watch resource');
});
