import type { ObservationReason } from '@slipway/contracts';

/** Nothing was sent, the server said it itself, or it is another's: no busy moment explains these. */
const BY_NO_CHANCE: ReadonlySet<ObservationReason | undefined> = new Set([
  'not_allowed',
  'model_changed',
  'port_in_use',
] as const);

interface Known {
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
  private readonly known = new Map<string, Known>();

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
