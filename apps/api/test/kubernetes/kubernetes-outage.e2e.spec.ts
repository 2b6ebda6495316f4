import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { ControlPlane, programs } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { KubeStack, lost } from './kube-stack.js';
import { until } from '../harness/stack.js';

jest.setTimeout(300_000);

const AWAY_MS = 60_000;

let plane: ControlPlane;
let kube: KubeStack;
beforeAll(async () => {
  if (!hasKube) return;
  // A control plane of its own, because others must not notice. Its nodes cannot report either, which must not
  // be noticed before the grace period ends.
  plane = await ControlPlane.start({ bin: programs(), nodeGraceSeconds: (2 * AWAY_MS) / 1_000 });
  kube = await KubeStack.start({ access: plane.access, nodes: [{}, {}] });
});
afterAll(async () => {
  await kube?.stop();
  await plane?.stop();
});

kubeIt(
  'continues to serve while the API server is away for a minute, changes nothing, and continues when it is back',
  async () => {
    const name = await kube.serving(2);
    const stateOf = async () =>
      (await kube.instancesOf(name)).map(({ id, state, generation, restarts }) => ({
        id,
        state,
        generation,
        restarts,
      }));
    const [before, events] = [await stateOf(), await kube.eventsOf(name)];
    let degradedAfterMs = Infinity;
    let wellAfterMs = Infinity;
    const answers = await kube.underLoad(name, async () => {
      const pausedAt = Date.now();
      plane.pause();
      try {
        await until('the target to be degraded', async () => (await kube.target()).status === 'degraded', AWAY_MS);
        degradedAfterMs = Date.now() - pausedAt;
        await new Promise((resolve) => setTimeout(resolve, AWAY_MS - (Date.now() - pausedAt)));
        expect(await stateOf()).toEqual(before);
      } finally {
        plane.resume();
      }
      const resumedAt = Date.now();
      await until('the target to be well', async () => (await kube.target()).status === 'ok', AWAY_MS);
      wellAfterMs = Date.now() - resumedAt;
    });
    expect(lost(answers)).toEqual([]);
    expect(degradedAfterMs).toBeLessThan(15_000);
    expect(wellAfterMs).toBeLessThan(10_000);
    expect(await stateOf()).toEqual(before);
    expect(await kube.eventsOf(name)).toEqual(events);

    // A request from then on is executed.
    await kube.stack.slipway().deployments.delete(name);
    await until('its pods to be gone', async () => (await kube.podsOf(before)).length === 0, 60_000);
  },
);
