import type { ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { Pod, KubeEvent } from '../api/objects.js';
import { sizeOf, type Unit } from '../manifests/unit-kind.js';

/** The state of one pod, or of all pods of a unit. */
export type PodReport = Pick<Observation, 'state' | 'isSecondHand'> & {
  reason?: ObservationReason;
  message?: string | undefined;
};

export interface GroupReports {
  /** Undefined while there is no leader. */
  leader?: PodReport;
  /** Of each existing worker. */
  workers: readonly PodReport[];
  size: number;
  /** Why missing pods could not be created. */
  refused?: PodReport;
}

/**
 * Pods of a group are created together. A pod that is created this much later replaces another one, which its leader
 * knew.
 */
const LATE_MS = 30_000;

export function isLate(worker: Pod, leader: Pod, lateMs = LATE_MS): boolean {
  return createdAt(worker) - createdAt(leader) > lateMs;
}

/** Whether the worker is older than the leader: it belongs to the previous group, and is being deleted. */
export function isFormer(worker: Pod, leader: Pod): boolean {
  return createdAt(worker) < createdAt(leader);
}

function createdAt({ metadata: { creationTimestamp = '' } }: Pod): number {
  return Date.parse(creationTimestamp);
}

/** Reasons without an explanation: the pod is being created, or was deleted with the others. */
const UNEXPLAINED = new Set<ObservationReason | undefined>([undefined, 'loading', 'killed', 'deleted']);

/**
 * Combines the states of a group's pods: it is ready if all of them are. Only the leader is probed, so it may be ready
 * while a worker has already ended. If the leader knows no reason, a worker or the controller of the pods may.
 */
export function summarizeGroup({ leader, workers, size, refused }: GroupReports): PodReport {
  const ready = workers.filter(({ state }) => state === 'ready').length;
  if (leader?.state === 'ready' && ready >= size - 1) return leader;
  const isExplained = leader && leader.state !== 'ready' && !UNEXPLAINED.has(leader.reason);
  if (isExplained) return leader;
  const cause = workers.find(({ state, reason }) => state !== 'ready' && !UNEXPLAINED.has(reason));
  if (cause) return leader?.state === 'unhealthy' ? { ...cause, state: 'unhealthy' } : cause;
  const isMissing = workers.length + (leader ? 1 : 0) < size;
  if (isMissing && refused) return refused;
  if (leader && leader.state !== 'ready') return leader;
  const gone = workers.find(({ state }) => state === 'unhealthy');
  if (gone) return gone;
  return {
    state: 'starting',
    reason: 'loading',
    message: `${ready + (leader ? 1 : 0)} of the ${size} pods of its group are running`,
  };
}

/** The filter of requested events: no other events of a namespace matter. */
export const REFUSAL_EVENTS = 'type=Warning,reason=FailedCreate';

/** The suffix that makes a unit's name the name of its leader. */
const OF_LEADER = '-0';

/**
 * Why pods of groups could not be created. Unlike those of Deployments, the controllers of groups have no condition for
 * it. They only write an event about the StatefulSet of the leader (which has the name of the unit) or of the workers
 * (which has the name of the leader).
 */
export class GroupRefusals {
  private readonly newest = new Map<string, KubeEvent>();

  note(before: KubeEvent | undefined, after: KubeEvent | undefined): void {
    const { involvedObject: { name = '' } = {}, metadata, reason } = (after ?? before)!;
    if (reason !== 'FailedCreate') return;
    const key = `${metadata.namespace}/${name}`;
    const known = this.newest.get(key);
    if (after && (!known || timeOf(after) >= timeOf(known))) this.newest.set(key, after);
    if (!after && known?.metadata.uid === metadata.uid) this.newest.delete(key);
  }

  /** The words of the server. Undefined if all pods exist, or if one was created later than the event. */
  of(unit: Unit, pods: readonly Pod[]): string | undefined {
    const { name, namespace, creationTimestamp = '' } = unit.metadata;
    if (pods.length >= sizeOf(unit)) return undefined;
    const since = pods.map((pod) => pod.metadata.creationTimestamp ?? '').reduce(later, creationTimestamp);
    const events = namesOf(name).flatMap((one) => this.newest.get(`${namespace}/${one}`) ?? []);
    return events.filter((event) => timeOf(event) >= since).sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0]
      ?.message;
  }
}

/** The possible names of the unit whose pods an event is about. */
export function unitsNamedIn({ involvedObject: { name = '' } = {} }: KubeEvent): string[] {
  return name.endsWith(OF_LEADER) ? [name, name.slice(0, -OF_LEADER.length)] : [name];
}

const namesOf = (unit: string): string[] => [unit, `${unit}${OF_LEADER}`];

const later = (one: string, other: string): string => (one > other ? one : other);

/** In whole seconds, like the times of objects. */
function timeOf({ lastTimestamp, eventTime, metadata }: KubeEvent): string {
  return (lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '').replace(/\.\d+Z$/, 'Z');
}
