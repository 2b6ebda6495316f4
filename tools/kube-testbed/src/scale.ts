import { randomBytes } from 'node:crypto';
import { KubeClient } from './client.js';
import { ControlPlane } from './control-plane.js';
import { KWOK_LABEL, KwokNodes } from './kwok-nodes.js';
import { DEPLOYMENTS, NAMESPACES, PODS } from './objects.js';
import { isReady } from './test-bed.js';
import { programs } from './test-plane.js';
import { eventually } from './waiting.js';
import type { Pod } from './objects.js';

// How fast the bed itself is, which a figure of the product has to be seen beside: node tools/kube-testbed/dist/scale.js [units] [nodes]
// Makes that many Deployments of one pod each on nodes of KWOK, waits for all to be ready, and takes them away.

const [units = 200, nodes = 20] = process.argv.slice(2).map(Number);
const AT_ONCE = 20;
const MOST_MS = 20 * 60_000;

const plane = await ControlPlane.start({ bin: programs(), isUnthrottled: true, nodeGraceSeconds: 60 });
const client = plane.client();
const namespace = `scale-${randomBytes(3).toString('hex')}`;
let kwok: KwokNodes | undefined;
try {
  kwok = await KwokNodes.start(plane.access, { name: namespace, nodes });
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const made = await timed(() => inTurns(units, (at) => client.create(DEPLOYMENTS, unit(`unit-${at}`))));
  const ready = await timed(() => eventually('all pods are ready', () => areReady(client), MOST_MS));
  const gone = await timed(async () => {
    await inTurns(units, (at) => client.remove(DEPLOYMENTS, { namespace, name: `unit-${at}` }));
    await eventually(
      'all pods are gone',
      async () => (await client.list(PODS, { namespace })).items.length === 0,
      MOST_MS,
    );
  });
  const row = { units, nodes, made_s: made, all_ready_after_s: made + ready, gone_s: gone };
  process.stdout.write(
    `${JSON.stringify(row, (_, value) => (typeof value === 'number' ? Math.round(value * 10) / 10 : value))}\n`,
  );
} finally {
  await kwok?.stop().catch(() => undefined);
  await client.close();
  await plane.stop();
}

async function areReady(asked: KubeClient): Promise<boolean> {
  const { items } = await asked.list<Pod>(PODS, { namespace });
  return items.filter(isReady).length === units;
}

/** In seconds. */
async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return (performance.now() - started) / 1_000;
}

async function inTurns(count: number, run: (at: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await run((next += 1));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function unit(name: string) {
  const labels = { app: name };
  return {
    metadata: { name, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { nodeSelector: { [KWOK_LABEL]: namespace }, containers: [{ name: 'engine', image: 'test/sim' }] },
      },
    },
  };
}
