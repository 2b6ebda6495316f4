import type { ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { Pod, KubeEvent } from '../api/objects.js';
import { sizeOf, type Unit } from '../manifests/unit-kind.js';

/** What one pod, or all of a unit, says of itself. */
export type PodReport = Pick<Observation, 'state'> & { reason?: ObservationReason; message?: string | undefined };

export interface GroupReports {
  /** Undefined while there is none. */
  leader?: PodReport;
  /** Of each worker that is there. */
  workers: readonly PodReport[];
  size: number;
  /** Why pods that are missing could not be made. */
  refused?: PodReport;
}

/** Pods of a group are made together: one that comes so much later took the place of another one, which its leader knew. */
const LATE_MS = 30_000;

export function isLate(worker: Pod, leader: Pod, lateMs = LATE_MS): boolean {
  return createdAt(worker) - createdAt(leader) > lateMs;
}

/** It was there before its leader: it is of the group before, which goes. */
export function isFormer(worker: Pod, leader: Pod): boolean {
  return createdAt(worker) < createdAt(leader);
}

function createdAt({ metadata: { creationTimestamp = '' } }: Pod): number {
  return Date.parse(creationTimestamp);
}

/** What a pod is that nobody says more of: it comes, or it was taken away with the others. */
const UNEXPLAINED = new Set<ObservationReason | undefined>([undefined, 'loading', 'killed']);

/**
 * What a group is by what its pods say: ready where all of them are. A leader is probed and its workers are not, so that it may say that it is
 * ready while one of them is gone already. Where the leader knows no reason, a worker or who makes the pods may.
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

/** What the API server is asked for: all else that happens in a namespace is nothing to us. */
export const REFUSAL_EVENTS = 'type=Warning,reason=FailedCreate';

/** What the name of a unit ends with where its leader is meant. */
const OF_LEADER = '-0';

/**
 * Why pods of groups could not be made. The controllers of groups keep no condition for it, as those of Deployments do: they only write an
 * event, at the StatefulSet of the leader (which has the name of the unit) or of the workers (of the leader).
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

  /** In the words of the server; undefined where all pods are there, or one has come since. */
  of(unit: Unit, pods: readonly Pod[]): string | undefined {
    const { name, namespace, creationTimestamp = '' } = unit.metadata;
    if (pods.length >= sizeOf(unit)) return undefined;
    const since = pods.map((pod) => pod.metadata.creationTimestamp ?? '').reduce(later, creationTimestamp);
    const events = namesOf(name).flatMap((one) => this.newest.get(`${namespace}/${one}`) ?? []);
    return events.filter((event) => timeOf(event) >= since).sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1))[0]
      ?.message;
  }
}

/** The names that a unit may have whose pods an event tells of. */
export function unitsNamedIn({ involvedObject: { name = '' } = {} }: KubeEvent): string[] {
  return name.endsWith(OF_LEADER) ? [name, name.slice(0, -OF_LEADER.length)] : [name];
}

const namesOf = (unit: string): string[] => [unit, `${unit}${OF_LEADER}`];

const later = (one: string, other: string): string => (one > other ? one : other);

/** In whole seconds, as the times of objects are. */
function timeOf({ lastTimestamp, eventTime, metadata }: KubeEvent): string {
  return (lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? '').replace(/\.\d+Z$/, 'Z');
}
