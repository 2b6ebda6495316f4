import { afterAll, beforeAll, jest } from '@jest/globals';
import { TestBed } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { describeConformance } from '@slipway/target-driver/conformance';
import { BedBench } from '../../test/bed-bench.js';

jest.setTimeout(180_000);

let bed: TestBed;
beforeAll(async () => {
  if (!hasKube) return;
  bed = await TestBed.open({ nodes: [{ gpus: 8 }] });
  await bed.kubelet.addNode();
});
afterAll(() => bed?.close());

if (hasKube) {
  describeConformance('kubernetes, on a control plane', {
    adopts: false,
    restarts: 'target',
    probes: 'target',
    outlivesHost: true,
    create: async () => {
      const bench = await BedBench.create(bed);
      return {
        newDriver: () => bench.driver(),
        spec: (overrides) => bench.spec(overrides),
        setHealthy: async (isHealthy) => bench.setHealthy(isHealthy),
        starts: async () => bench.starts(),
        crash: async ({ incarnation = '' }) => {
          const [uid] = incarnation.split('/');
          const [pod] = (await bed.pods(bench.namespace)).filter(({ metadata }) => metadata.uid === uid);
          bed.kubelet.crash(bench.namespace, pod!.metadata.name);
        },
        dispose: () => bench.close(),
      };
    },
  });
} else kubeIt('kubernetes, on a control plane, keeps the promises of a target driver', () => undefined);
