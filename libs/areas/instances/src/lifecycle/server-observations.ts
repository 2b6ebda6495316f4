import { DISRUPTIONS, type ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';

/** The known facts about an instance's server, in addition to its state. */
interface ServerLife extends Pick<InstanceRow, 'incarnation' | 'reason' | 'place'> {
  endingUrl: string | null;
  isDoubted: boolean;
}

/** The known facts about an instance that does not run. */
export const UNSEEN: ServerLife = { incarnation: null, reason: null, place: null, endingUrl: null, isDoubted: false };

/**
 * Between two lives of its server, an instance keeps the last life and its place, to compare the next life with them.
 */
export function asSeen(instance: InstanceRow, seen: Observation): ServerLife {
  const about = {
    reason: seen.reason ?? null,
    endingUrl: endingUrlOf(instance, seen),
    isDoubted: (seen.isSecondHand ?? seen.isUnanswered) === true,
  };
  if (seen.incarnation === undefined) return { incarnation: instance.incarnation, place: instance.place, ...about };
  return { incarnation: seen.incarnation, place: seen.place ?? null, ...about };
}

/**
 * The address at which a server is being ended and still answers. Gateways have used it already, so it has answered a
 * request.
 */
function endingUrlOf(
  { base_url, ending_url, ready_age_seconds: age, generation }: InstanceRow,
  { endingUrl, generation: seen = generation }: Observation,
): string | null {
  if (endingUrl === undefined || seen !== generation) return null;
  return endingUrl === ending_url || (endingUrl === base_url && age !== null) ? endingUrl : null;
}

/**
 * Returns an observation at second hand of a server that answers this process: it keeps its requests, and the message
 * names the disagreement.
 */
export function disputed(seen: Observation): Observation {
  const message = `${seen.message ?? 'it is reported as lost'}, but the instance answers, so it keeps its requests`;
  return { ...seen, state: 'ready', message };
}

/** Whether a check found something new about an instance that stays in its state. */
export function isNews(instance: InstanceRow, next: ServerLife & Pick<InstanceRow, 'message'>): boolean {
  const { incarnation, place, reason, message } = instance;
  const isSameLife = incarnation === next.incarnation && place === next.place;
  return !isSameLife || reason !== next.reason || message !== next.message || isServerNews(instance, next);
}

/** Whether gateways or readers have to know more about the same server: a doubt, an earlier address, or their end. */
export function isServerNews({ doubted, ending_url }: InstanceRow, next: ServerLife): boolean {
  return doubted !== next.isDoubted || ending_url !== next.endingUrl;
}

/** Whether the observed server is another one than before, in the same generation. */
export function isAnotherLife({ incarnation }: InstanceRow, seen: Observation): boolean {
  return incarnation !== null && seen.incarnation !== undefined && seen.incarnation !== incarnation;
}

/** Returns how the previous life ended: as the target reports, else the last known reason. */
export function lastEndOf(instance: InstanceRow, seen: Observation): { reason?: ObservationReason; isMove: boolean } {
  const reason = seen.lastExit?.reason ?? instance.reason ?? undefined;
  return { reason, isMove: reason !== undefined && DISRUPTIONS.has(reason) };
}

/** Whether the changes on its target from outside Slipway, or their end, have not been recorded yet. */
export function isDriftNews(instance: Pick<InstanceRow, 'drift'>, { drift }: Observation): boolean {
  return (drift ?? null) !== (instance.drift ?? null);
}

/**
 * Reasons that a busy machine cannot explain: the probe was not sent, the server itself reported another model, or
 * another program uses the port.
 */
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
 * Tolerates missed probes after a takeover. A driver counts missed probes in memory, so a new driver reports an
 * instance as unhealthy at its first miss. An instance that was ready when this process took it over may miss as many
 * probes as any other. Otherwise a busy moment at the start of a worker would withdraw every engine from the gateways.
 */
export class TakeoverPatience {
  private readonly known = new Map<string, MissCount>();

  /** Records that the instance answered this process. From now on the driver's own count applies. */
  noteReady(id: string, generation: number): void {
    this.known.set(id, { generation, isProven: true, misses: 0 });
  }

  /** Records a miss of a ready instance. Returns true while the miss is tolerated. */
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
 * Decides when to record a new observation of an unhealthy instance: at most once a second. A server may have a new
 * message at every check, and each record is a write.
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
