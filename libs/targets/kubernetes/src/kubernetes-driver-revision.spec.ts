import { expect, it } from '@jest/globals';
import { INSTALLATION, instanceSpec, targetConfig } from '../test/driver-bench.js';
import { deploymentOf } from '../test/target-fixture.js';
import type { Kind } from './api/kinds.js';
import type { KubeObject } from './api/objects.js';
import type { KubeApi } from './api/requests.js';
import { RevisionObjects } from './kubernetes-driver-revision.js';
import type { Unit } from './unit-kind.js';

/** What there is, by kind and name. */
const there = new Map<string, KubeObject>();
const api = {
  list: async ({ plural }: Kind) => ({
    items: [...there].filter(([key]) => key.startsWith(plural)).map(([, object]) => object),
    resourceVersion: '1',
  }),
  apply: async ({ plural }: Kind, _namespace: string, object: KubeObject) => {
    there.set(`${plural}/${object.metadata.name}`, object);
    return object;
  },
  delete: async ({ plural }: Kind, _namespace: string, name: string) => void there.delete(`${plural}/${name}`),
} as unknown as KubeApi;

it('makes what a revision shares anew with its next unit, where a sweep has taken it away between two of them', async () => {
  let units: Unit[] = [];
  const watch = { all: () => [['ins_1', { units, pods: [] }]].values() as never, isSyncedIn: () => true };
  const options = { labelSelector: '', writer: { installation: INSTALLATION }, onTrouble: () => undefined, sweepMs: 0 };
  const revisions = new RevisionObjects(api, watch, options);
  const config = targetConfig();
  const come = async (generation: number) => {
    const spec = instanceSpec({ generation, scaling: { min_replicas: 2, max_replicas: 2 } });
    const unit = deploymentOf(spec, config, { installation: INSTALLATION });
    units = [{ ...unit, metadata: { ...unit.metadata, uid: `uid-${generation}` } }];
    revisions.keep(spec, config, units[0]!);
    await revisions.settled();
    return [...there.keys()];
  };
  const shared = await come(1);
  expect(shared).toHaveLength(2);
  units = [];
  revisions.sweep();
  await revisions.settled();
  expect([...there]).toEqual([]);
  expect(await come(2)).toEqual(shared);
});
