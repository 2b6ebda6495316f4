import { afterAll, beforeAll, expect, jest } from '@jest/globals';
import { ControlPlane, programs } from '@slipway/kube-testbed';
import { hasKube, kubeIt } from '@slipway/kube-testbed/jest';
import { KubeStack, lost } from './kube-stack.js';
import { until } from '../harness/stack.js';

jest.setTimeout(300_000);

const AWAY_MS = 60_000;
/** The default of controller managers before 1.32, and shorter than the outage; that of later ones is 50 s. */
const GRACE_SECONDS = 40;
/** After the outage, nodes report so much later than the controller manager judges them. */
const LATE_MS = 15_000;

let plane: ControlPlane;
let kube: KubeStack;
beforeAll(async () => {
  if (!hasKube) return;
  // A control plane of its own, because others must not notice. Its nodes cannot report either.
  plane = await ControlPlane.start({ bin: programs(), nodeGraceSeconds: GRACE_SECONDS });
  // Pods end as slowly as on real nodes.
  kube = await KubeStack.start({ access: plane.access, nodes: [{}, {}], pace: { graceSecondMs: 1_000 } });
});
afterAll(async () => {
  await kube?.stop();
  await plane?.stop();
});

const statesOf = async (name: string) =>
  (await kube.instancesOf(name)).map(({ id, state, generation, restarts }) => ({ id, state, generation, restarts }));

kubeIt(
  'an API server that is away for longer than the grace period of nodes costs no request, during the outage and after it',
  async () => {
    const names = [await kube.serving(2), await kube.serving(2)];
    const all = async <T>(of: (name: string) => Promise<T>): Promise<T[]> => Promise.all(names.map(of));
    const [before, events] = [await all(statesOf), await all((name) => kube.eventsOf(name))];
    const nodes = (await all((name) => kube.instancesOf(name))).flat().map((one) => String(one['place']));
    const reasons = async () => (await all((name) => kube.instancesOf(name))).flat().map(({ reason }) => reason);
    let degradedAfterMs = Infinity;
    let wellAfterMs = Infinity;
    let disputes: any[] = [];
    const outage = async () => {
      const pausedAt = Date.now();
      plane.pause();
      try {
        await until('the target to be degraded', async () => (await kube.target()).status === 'degraded', AWAY_MS);
        degradedAfterMs = Date.now() - pausedAt;
        for (const node of new Set(nodes)) void kube.bed.kubelet.silence(node);
        await new Promise((resolve) => setTimeout(resolve, AWAY_MS - (Date.now() - pausedAt)));
        expect(await all(statesOf)).toEqual(before);
      } finally {
        plane.resume();
      }
      const resumedAt = Date.now();
      await until('the target to be well', async () => (await kube.target()).status === 'ok', AWAY_MS);
      wellAfterMs = Date.now() - resumedAt;
      await until(
        'all nodes to be reported',
        async () => (await reasons()).every((one) => one === 'node_lost'),
        AWAY_MS,
      );
      disputes = (await all((name) => kube.instancesOf(name))).flat();
      await new Promise((resolve) => setTimeout(resolve, LATE_MS));
      for (const node of new Set(nodes)) kube.bed.kubelet.wake(node);
      await until('all nodes to be well', async () => (await reasons()).every((one) => one === null), AWAY_MS);
    };
    // The load of the first deployment runs around that of the second one.
    let second: Awaited<ReturnType<KubeStack['underLoad']>> = [];
    const first = await kube.underLoad(names[0]!, async () => (second = await kube.underLoad(names[1]!, outage)));
    expect([...lost(first), ...lost(second)]).toEqual([]);
    expect(degradedAfterMs).toBeLessThan(15_000);
    expect(wellAfterMs).toBeLessThan(10_000);
    for (const { state, message } of disputes)
      expect([state, message]).toEqual(['ready', expect.stringContaining('but the instance answers')]);
    expect(await all(statesOf)).toEqual(before);
    // The bed's control plane moves pods from silent nodes after 2 s; the default of a cluster is 300 s.
    const since = (await all((name) => kube.eventsOf(name))).map((told, at) => told.slice(events[at]!.length)).flat();
    expect(since.filter((type) => !['instance.moved', 'instance.ready'].includes(type))).toEqual([]);

    // A request from then on is executed.
    await kube.stack.slipway().deployments.delete(names[0]!);
    await until('its pods to be gone', async () => (await kube.podsOf(before[0]!)).length === 0, 60_000);
  },
);

kubeIt('a lone pod that is evicted serves until its replacement is ready', async () => {
  const name = await kube.serving(1);
  const instances = await kube.instancesOf(name);
  const [pod] = await kube.podsOf(instances);
  let replacedAfterMs = Infinity;
  const answers = await kube.underLoad(name, async () => {
    const evictedAt = Date.now();
    await kube.bed.client.evict(kube.namespace, pod!.metadata.name!);
    const isReplaced = async () => {
      const [{ state }] = await kube.instancesOf(name);
      return state === 'ready' && (await kube.toldAt(name, 'instance.moved')) !== undefined;
    };
    await until('its replacement to be ready', isReplaced, AWAY_MS);
    replacedAfterMs = Date.now() - evictedAt;
    await until('it to be gone', async () => (await kube.podsOf(instances)).length === 1, AWAY_MS);
  });
  // It serves for ten seconds before its engine gets a signal, which is long enough for this replacement.
  expect(replacedAfterMs).toBeLessThan(10_000);
  expect(lost(answers)).toEqual([]);
});
