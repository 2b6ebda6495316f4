import type { ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { Pod } from '../api/objects.js';

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
    message: `${ready + (leader ? 1 : 0)} of the ${size} pods of its group run`,
  };
}
