import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../client.js';
import { DEPLOYMENTS, PODS } from '../objects.js';
import type { Sightings } from './sightings.js';

const ROUND_MS = 100;
const MOST_AT_ONCE = 100;
/** The other deletions are pods, which their units create again. This process creates deleted units again. */
const UNITS_PER_DELETION = 0.1;
/** A pod from a ReplicaSet of a Deployment: the name before both suffixes. */
const UNIT_OF_POD = /^(.+)-[^-]+-[^-]+$/;

/** Deletes random pods and units, as evenly as the API server allows. */
export class Churn {
  pods = 0;
  units = 0;
  /** A pod is deleted once, even if the event about it is late. */
  private readonly chosen = new Set<string>();

  constructor(
    private readonly client: KubeClient,
    private readonly namespace: string,
    private readonly seen: Pick<Sightings, 'pods'>,
  ) {}

  async during(ms: number, perSecond: number): Promise<void> {
    const begin = performance.now();
    let begun = 0;
    for (let at = 0; at < ms; at = performance.now() - begin) {
      // If a round took too long, the next one catches up.
      const count = Math.min(MOST_AT_ONCE, Math.floor((at * perSecond) / 1_000) - begun);
      begun += count;
      await Promise.all([delay(ROUND_MS), ...Array.from({ length: count }, () => this.deleteOne())]);
    }
  }

  private async deleteOne(): Promise<void> {
    const all = [...this.seen.pods.values()].filter(({ name }) => !this.chosen.has(name));
    const pod = all[Math.floor(Math.random() * all.length)]?.name;
    const unit = pod && UNIT_OF_POD.exec(pod)?.[1];
    if (pod === undefined || unit === undefined) return;
    this.chosen.add(pod);
    const { namespace } = this;
    if (Math.random() < UNITS_PER_DELETION) {
      await this.client.remove(DEPLOYMENTS, { namespace, name: unit });
      this.units += 1;
    } else {
      await this.client.remove(PODS, { namespace, name: pod });
      this.pods += 1;
    }
  }
}
