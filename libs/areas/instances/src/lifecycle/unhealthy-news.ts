import type { Observation } from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';
import { asSeen, isNews } from './server-life.js';

const PAUSE_MS = 1_000;

/**
 * When what is seen anew of an unhealthy instance is written down: once in a second at most, because a server may have something else to
 * say at every look, and each is a write.
 */
export class UnhealthyNews {
  private readonly toldAt = new Map<string, number>();

  isDue(instance: InstanceRow, seen: Observation): boolean {
    if (!isNews(instance, { ...asSeen(instance, seen), message: seen.message ?? null })) return false;
    const now = performance.now();
    if (now - (this.toldAt.get(instance.id) ?? -Infinity) < PAUSE_MS) return false;
    this.toldAt.set(instance.id, now);
    return true;
  }

  forget(instanceId: string): void {
    this.toldAt.delete(instanceId);
  }
}
