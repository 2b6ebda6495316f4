import { expect, it } from '@jest/globals';
import { describeConformance, observeUntil } from './conformance.js';
import type { InstanceSpec } from './driver.js';
import { TwinCluster, TwinDriver } from './twin.js';

const specOf = (overrides: Partial<InstanceSpec> = {}): InstanceSpec => ({
  instanceId: 'inst_1',
  generation: 1,
  model: { id: 'tiny' },
  runtime: { engine: 'sim', args: {}, env: {} },
  probe: { intervalSeconds: 1, timeoutSeconds: 2, failureThreshold: 2 },
  ...overrides,
});

describeConformance('TwinDriver', {
  adopts: false,
  restarts: 'target',
  probes: 'target',
  outlivesHost: true,
  create: async () => {
    const cluster = new TwinCluster();
    return {
      newDriver: () => new TwinDriver('twin', cluster),
      spec: specOf,
      setHealthy: async (isHealthy) => cluster.setHealthy(isHealthy),
      starts: async (instanceId) => cluster.started.filter((id) => id === instanceId).length,
      crash: async ({ incarnation }) => cluster.crash(incarnation!),
      dispose: () => cluster.dispose(),
    };
  },
});

it('moves an instance to another node with another incarnation, and reports that something changed', async () => {
  const cluster = new TwinCluster();
  const driver = new TwinDriver('twin', cluster);
  const changes: string[] = [];
  driver.onChange((instanceId) => changes.push(instanceId));
  cluster.setHealthy(true);
  await driver.provision(specOf());
  const before = await observeUntil(driver, specOf(), 'ready');
  const told = changes.length;
  await cluster.move(before.incarnation!, 'node-2');
  const after = await observeUntil(driver, specOf(), 'ready');
  expect(after).toMatchObject({
    place: 'node-2',
    generation: 1,
    restarts: 1,
    lastExit: { code: null, reason: 'evicted' },
  });
  expect(after.incarnation).not.toBe(before.incarnation);
  expect(changes.slice(told)).toEqual(['inst_1', 'inst_1']);
  await driver.close();
  await cluster.dispose();
});
