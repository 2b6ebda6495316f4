import { randomBytes } from 'node:crypto';
import { KWOK_LABEL } from '../kwok-nodes.js';
import { DEPLOYMENTS, NAMESPACES, PODS, type Pod } from '../objects.js';
import { isReady } from '../test-bed.js';
import { eventually } from '../waiting.js';
import { runConcurrently, seconds } from './measure.js';
import type { ScaleBed } from './scale-bed.js';

const AT_ONCE = 20;
const MOST_MS = 20 * 60_000;

/**
 * Measures the speed of the bed itself, for comparison with the figures of the product: creates and deletes this number
 * of Deployments with one pod.
 */
export async function bedPace({ client, kwok }: ScaleBed, units: number): Promise<object> {
  const namespace = `pace-${randomBytes(3).toString('hex')}`;
  await client.create(NAMESPACES, { metadata: { name: namespace } });
  const podsLeft = async () => (await client.list<Pod>(PODS, { namespace })).items;
  const made = await seconds(() =>
    runConcurrently(units, AT_ONCE, (at) => client.create(DEPLOYMENTS, unit(`unit-${at}`, namespace, kwok.name))),
  );
  const ready = await seconds(() =>
    eventually('all pods are ready', async () => (await podsLeft()).filter(isReady).length === units, MOST_MS),
  );
  const gone = await seconds(async () => {
    await runConcurrently(units, AT_ONCE, (at) => client.remove(DEPLOYMENTS, { namespace, name: `unit-${at}` }));
    await eventually('all pods are gone', async () => (await podsLeft()).length === 0, MOST_MS);
  });
  await client.remove(NAMESPACES, { name: namespace });
  return { bed_units: units, bed_made_s: made, bed_all_ready_after_s: made + ready, bed_gone_s: gone };
}

function unit(name: string, namespace: string, nodes: string) {
  const labels = { app: name };
  return {
    metadata: { name, namespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { nodeSelector: { [KWOK_LABEL]: nodes }, containers: [{ name: 'engine', image: 'test/sim' }] },
      },
    },
  };
}
