import { afterAll, afterEach, beforeAll, beforeEach, expect, jest } from '@jest/globals';
import { isReady, TestBed, type Pod } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { BedBench } from '../../test/bed-bench.js';
import { until } from '../../test/driver-bench.js';
import type { KubernetesEngine } from '../target-config.js';

jest.setTimeout(180_000);
const WITHIN_MS = 60_000;

let bed: TestBed;
let bench: BedBench;
beforeAll(async () => {
  if (hasKube) bed = await TestBed.open({ nodes: [{}, {}, {}] });
});
afterAll(() => bed?.close());
beforeEach(async () => {
  if (hasKube) bench = await BedBench.create(bed);
});
afterEach(() => bench?.close());

let revisions = 0;
/** Starts the instances of one revision at once, and returns how many are on each node, the most first. */
async function countsOf(replicas: number, engine: Partial<KubernetesEngine> = {}): Promise<number[]> {
  // Its place is decided before the image is missed.
  const driver = bench.driver({ engines: { sim: bench.steered({ image: 'test/absent', ...engine }) } });
  const revisionName = `r${++revisions}`;
  const specs = Array.from({ length: replicas }, (_, ordinal) =>
    bench.spec({
      instanceId: `ins_${revisionName}_${ordinal}`,
      owner: { ...bench.spec().owner!, revisionId: `rev_${revisionName}`, revisionName, ordinal },
    }),
  );
  await Promise.all(specs.map((spec) => driver.provision(spec)));
  const seen = await Promise.all(
    specs.map((spec) =>
      until(
        () => driver.observe(spec),
        (one) => one.place !== undefined,
        WITHIN_MS,
      ),
    ),
  );
  const counts = new Map<string, number>();
  for (const one of seen) counts.set(one.place ?? '', (counts.get(one.place ?? '') ?? 0) + 1);
  return [...counts.values()].sort((one, other) => other - one);
}

kubeIt('two and three instances of a revision run on as many of three empty nodes, every time', async () => {
  for (let time = 0; time < 5; time += 1) {
    expect(await countsOf(2)).toEqual([1, 1]);
    expect(await countsOf(3)).toEqual([1, 1, 1]);
  }
  expect(await countsOf(4)).toEqual([2, 1, 1]);
});

kubeIt('instances share nodes if fewer nodes are usable, also if they must be spread', async () => {
  const [node] = bed.kubelet.nodeNames;
  await bench.kubectl(`kubectl cordon ${node}`);
  try {
    expect(await countsOf(3)).toEqual([2, 1]);
    expect(await countsOf(3, { spread: 'hard' })).toEqual([2, 1]);
  } finally {
    await bench.kubectl(`kubectl uncordon ${node}`);
  }
  expect(await countsOf(3, { spread: 'hard' })).toEqual([1, 1, 1]);
});

kubeIt(
  'an instance that must be spread waits for a node with the fewest of its revision, and another does not',
  async () => {
    await bed.kubelet.addNode({ cpu: '1' });
    const resources = { requests: { cpu: '2' } };
    expect(await countsOf(4, { resources })).toEqual([2, 1, 1]);
    const driver = bench.driver({ engines: { sim: bench.steered({ resources, spread: 'hard' }) } });
    const specs = Array.from({ length: 4 }, (_, ordinal) =>
      bench.spec({ instanceId: `ins_hard_${ordinal}`, owner: { ...bench.spec().owner!, ordinal } }),
    );
    await Promise.all(specs.map((spec) => driver.provision(spec)));
    const seen = await until(
      () => Promise.all(specs.map((spec) => driver.observe(spec))),
      (all) => all.some(({ reason }) => reason === 'unschedulable') && all.filter((one) => one.place).length === 3,
      WITHIN_MS,
    );
    expect(seen.find(({ reason }) => reason === 'unschedulable')!.message).toContain('topology spread constraints');
  },
);

kubeIt('the replacement of a deleted pod avoids the other instance, while the deleted pod still runs', async () => {
  const [node] = bed.kubelet.nodeNames;
  bench.setHealthy(true);
  await bench.kubectl(`kubectl cordon ${node}`);
  try {
    for (let time = 0; time < 4; time += 1) {
      const counts = await countsOf(2, { image: 'test/steered', stop: { drain: 'engine', grace_seconds: 60 } });
      expect(counts).toEqual([1, 1]);
      const label = `rev_r${revisions}`;
      const [gone, other] = await bed.pods(bench.namespace, `slipway.dev/revision=${label}`);
      await bed.pod(bench.namespace, 'ready', (pod) => pod.metadata.name === gone!.metadata.name && isReady(pod));
      await bench.kubectl(`kubectl delete pod ${gone!.metadata.name} --wait=false`);
      const isFresh = ({ metadata, spec }: Pod) =>
        metadata.labels?.['slipway.dev/revision'] === label &&
        ![gone, other].some((one) => one!.metadata.name === metadata.name) &&
        spec.nodeName !== undefined;
      const fresh = await bed.pod(bench.namespace, 'the replacement, on a node', isFresh);
      expect(fresh.spec.nodeName).not.toBe(other!.spec.nodeName);
    }
  } finally {
    await bench.kubectl(`kubectl uncordon ${node}`);
  }
});

kubeIt('instances that are to be packed run next to each other', async () => {
  expect(await countsOf(1, { spread: 'pack' })).toEqual([1]);
  expect(await countsOf(3, { spread: 'pack' })).toEqual([3]);
});
