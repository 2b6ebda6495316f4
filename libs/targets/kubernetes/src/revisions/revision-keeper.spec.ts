import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { INSTALLATION, instanceSpec, NAMESPACE, targetConfig, until } from '../../test/driver-bench.js';
import { startStubApi, type StubApi } from '../../test/stub-api/index.js';
import { deploymentOf } from '../../test/target-fixture.js';
import { PDBS, SERVICES } from '../api/kinds.js';
import type { PodDisruptionBudget } from '../api/objects.js';
import { KubeApi } from '../api/requests.js';
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
beforeEach(async () => {
  stub = await startStubApi();
  api = new KubeApi(stub.cluster());
  [units, troubles] = [[], []];
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
  return new RevisionKeeper(api, seen, { labelSelector: '', writer, onTrouble, sweepMs: 0, clock, ...more });
}

/** As the driver does it with each look. */
function look(generation: number): void {
  const spec = instanceSpec({ generation, scaling: { min_replicas: 2, max_replicas: 2 } });
  const unit = deploymentOf(spec, config, writer);
  units = [{ ...unit, metadata: { ...unit.metadata, uid: `uid-${generation}` } }];
  revisions.keep(spec, config, units[0]!);
}

const there = (): string[] =>
  [SERVICES, PDBS].flatMap((kind) => stub.store.list(kind).map(({ metadata }) => `${kind.plural}/${metadata.name}`));
const asked = (verb: string) => stub.requests.filter((one) => one.verb === verb);
/** Until all is there and heard of, which what follows goes on from. */
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

it('makes what a revision shares anew with its next unit, where a sweep has taken it away between two of them', async () => {
  const shared = await complete(1);
  units = [];
  await sweptUntil(() => there().length === 0);
  expect(await complete(2)).toEqual(shared);
});

it('asks the server for nothing while nothing happens, however often it looks and sweeps', async () => {
  await complete(1);
  stub.forgetRequests();
  for (let time = 0; time < 50; time += 1) {
    look(1);
    revisions.sweep();
    await revisions.settled();
  }
  expect(stub.requests).toEqual([]);
});

it('puts right what somebody edits or removes with the next look, without a list', async () => {
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

it('does not vie with somebody who wants it otherwise: between two writes of one object is a while', async () => {
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

it('does without the right to watch what it can: makes what is new, and takes away once what nobody needs', async () => {
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
