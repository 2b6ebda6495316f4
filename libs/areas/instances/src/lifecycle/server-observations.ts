import { DISRUPTIONS, type ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';

/** What is known of an instance's server beyond its state. */
type ServerLife = Pick<InstanceRow, 'incarnation' | 'reason' | 'place'>;

/** What is known of an instance that does not run. */
export const UNSEEN: ServerLife = { incarnation: null, reason: null, place: null };

/** Between two lives of its server an instance keeps the last one and its place: the next is compared with them. */
export function asSeen(instance: InstanceRow, seen: Observation): ServerLife {
  const reason = seen.reason ?? null;
  if (seen.incarnation === undefined) return { incarnation: instance.incarnation, place: instance.place, reason };
  return { incarnation: seen.incarnation, place: seen.place ?? null, reason };
}

/** Whether a look says something of an instance that stays in its state. */
export function isNews(instance: InstanceRow, next: ServerLife & Pick<InstanceRow, 'message'>): boolean {
  const { incarnation, place, reason, message } = instance;
  const isSameLife = incarnation === next.incarnation && place === next.place;
  return !isSameLife || reason !== next.reason || message !== next.message;
}

/** Whether the server that was seen is another one than before, in the same generation. */
export function isAnotherLife({ incarnation }: InstanceRow, seen: Observation): boolean {
  return incarnation !== null && seen.incarnation !== undefined && seen.incarnation !== incarnation;
}

/** How the life before the one that was seen has ended: as the target says, or as it was known last. */
export function lastEndOf(instance: InstanceRow, seen: Observation): { reason?: ObservationReason; isMove: boolean } {
  const reason = seen.lastExit?.reason ?? instance.reason ?? undefined;
  return { reason, isMove: reason !== undefined && DISRUPTIONS.has(reason) };
}

/** Whether somebody else has changed what the instance is made of, and nobody has told it yet. */
export function isDriftNews(instance: Pick<InstanceRow, 'drift'>, { drift }: Observation): boolean {
  return drift !== undefined && drift !== instance.drift;
}

/** Nothing was sent, the server said it itself, or it is another's: no busy moment explains these. */
const BY_NO_CHANCE: ReadonlySet<ObservationReason | undefined> = new Set([
  'not_allowed',
  'model_changed',
  'port_in_use',
] as const);

interface MissCount {
  generation: number;
  isProven: boolean;
  misses: number;
}

/**
 * A driver counts missed probes in memory, so one that has just started calls an instance unhealthy at its first miss. An
 * instance that was ready when this process took it over is given as many misses as any other: a busy moment at the
 * start of a worker must not take every engine from the gateways.
 */
export class TakeoverPatience {
  private readonly known = new Map<string, MissCount>();

  /** It answered this process: from now on the driver's own count holds. */
  noteReady(id: string, generation: number): void {
    this.known.set(id, { generation, isProven: true, misses: 0 });
  }

  /** Notes a miss of a ready instance. True while it is to be borne. */
  bears(id: string, generation: number, threshold: number, reason?: ObservationReason): boolean {
    if (BY_NO_CHANCE.has(reason)) return false;
    const entry = this.known.get(id);
    if (entry?.generation === generation && entry.isProven) return false;
    const misses = (entry?.generation === generation ? entry.misses : 0) + 1;
    this.known.set(id, { generation, isProven: false, misses });
    return misses < threshold;
  }

  forget(id: string): void {
    this.known.delete(id);
  }
}

const NEWS_PAUSE_MS = 1_000;

/**
 * When what is seen anew of an unhealthy instance is written down: once in a second at most, because a server may have something else to
 * say at every look, and each is a write.
 */
export class UnhealthyNews {
  private readonly toldAt = new Map<string, number>();

  isDue(instance: InstanceRow, seen: Observation): boolean {
    if (!isNews(instance, { ...asSeen(instance, seen), message: seen.message ?? null })) return false;
    const now = performance.now();
    if (now - (this.toldAt.get(instance.id) ?? -Infinity) < NEWS_PAUSE_MS) return false;
    this.toldAt.set(instance.id, now);
    return true;
  }

  forget(instanceId: string): void {
    this.toldAt.delete(instanceId);
  }
}
