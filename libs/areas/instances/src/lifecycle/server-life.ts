import { DISRUPTIONS, type ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { InstanceRow } from '../workloads/instance.query.js';

/** What is known of an instance's server beyond its state. */
type Known = Pick<InstanceRow, 'incarnation' | 'reason' | 'place'>;

/** What is known of an instance that does not run. */
export const UNSEEN: Known = { incarnation: null, reason: null, place: null };

/** Between two lives of its server an instance keeps the last one and its place: the next is compared with them. */
export function asSeen(instance: InstanceRow, seen: Observation): Known {
  const reason = seen.reason ?? null;
  if (seen.incarnation === undefined) return { incarnation: instance.incarnation, place: instance.place, reason };
  return { incarnation: seen.incarnation, place: seen.place ?? null, reason };
}

/** Its node does not answer: gateways do not wait for it either. */
export const LOST = { state: 'unhealthy', reason: 'node_lost' } as const;

export function isLost({ state, reason }: Pick<InstanceRow, 'state' | 'reason'>): boolean {
  return state === LOST.state && reason === LOST.reason;
}

/** Whether a look says something of an instance that stays in its state. */
export function isNews(instance: InstanceRow, next: Known & Pick<InstanceRow, 'message'>): boolean {
  const { incarnation, place, reason, message } = instance;
  const isSameLife = incarnation === next.incarnation && place === next.place;
  return !isSameLife || reason !== next.reason || message !== next.message;
}

/** Whether the server that was seen is another one than before, in the same generation. */
export function isAnotherLife({ incarnation }: InstanceRow, seen: Observation): boolean {
  return incarnation !== null && seen.incarnation !== undefined && seen.incarnation !== incarnation;
}

/** How the life before the one that was seen has ended: as the target says, or as it was known last. */
export function endOf(instance: InstanceRow, seen: Observation): { reason?: ObservationReason; isMove: boolean } {
  const reason = seen.lastExit?.reason ?? instance.reason ?? undefined;
  return { reason, isMove: reason !== undefined && DISRUPTIONS.has(reason) };
}

/** Whether somebody else has changed what the instance is made of, and nobody has told it yet. */
export function isDriftNews(instance: Pick<InstanceRow, 'drift'>, { drift }: Observation): boolean {
  return drift !== undefined && drift !== instance.drift;
}
