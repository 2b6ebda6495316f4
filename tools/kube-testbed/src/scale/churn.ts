import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '../client.js';
import { DEPLOYMENTS, PODS } from '../objects.js';
import type { Publications } from './publications.js';

const ROUND_MS = 100;
/** The others are pods, which their units make anew; a unit is made anew by us alone. */
const UNITS_PER_DELETION = 0.1;
/** Of a pod that a ReplicaSet of a Deployment has made: what stands before both suffixes. */
const UNIT_OF_POD = /^(.+)-[^-]+-[^-]+$/;

/** Deletes random pods and units, as evenly as the API server lets it. */
export class Churn {
  pods = 0;
  units = 0;

  constructor(
    private readonly client: KubeClient,
    private readonly namespace: string,
    private readonly seen: Pick<Publications, 'pods'>,
  ) {}

  async during(ms: number, perSecond: number): Promise<void> {
    const begin = performance.now();
    let due = 0;
    while (performance.now() - begin < ms) {
      due += (perSecond * ROUND_MS) / 1_000;
      const count = Math.floor(due);
      due -= count;
      await Promise.all([delay(ROUND_MS), ...Array.from({ length: count }, () => this.deleteOne())]);
    }
  }

  private async deleteOne(): Promise<void> {
    const all = [...this.seen.pods.values()];
    const pod = all[Math.floor(Math.random() * all.length)]?.name;
    const unit = pod && UNIT_OF_POD.exec(pod)?.[1];
    if (pod === undefined || unit === undefined) return;
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
