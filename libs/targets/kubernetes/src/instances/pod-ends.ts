import type { ObservationReason } from '@slipway/contracts';
import { startFailure, type Observation } from '@slipway/target-driver';
import type { ContainerStatus, Pod } from '../api/objects.js';
import { ENGINE_CONTAINER, isOfGroup } from '../manifests/unit-kind.js';

/** The longest message of an observation. */
export const MAX_MESSAGE = 400;
/** The longest time from the end of a group's first pod to that of its last. */
const TOGETHER_MS = 300_000;

const DISRUPTION_REASONS: Record<string, ObservationReason> = {
  PreemptionByScheduler: 'preempted',
  PreemptionByKubeScheduler: 'preempted',
  DeletionByTaintManager: 'node_lost',
  DeletionByPodGC: 'node_lost',
  EvictionByEvictionAPI: 'evicted',
  TerminationByKubelet: 'node_shutdown',
};

/** `status.reason` of a pod, as kubelets and the node controller write it. */
const POD_REASONS: Record<string, ObservationReason> = {
  Evicted: 'evicted',
  Preempting: 'preempted',
  Preempted: 'preempted',
  NodeLost: 'node_lost',
  NodeShutdown: 'node_shutdown',
  Shutdown: 'node_shutdown',
  Terminated: 'node_shutdown',
};

type LastExit = NonNullable<Observation['lastExit']>;

/** Foreign text as one line of limited length. */
export function shownWords(text: string | undefined): string | undefined {
  const line = text
    ?.replace(/[\p{Cc}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, MAX_MESSAGE);
  return line === '' ? undefined : line;
}

export function conditionOf(object: Pod, type: string) {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** Nothing of the pod runs any more, although the object exists: a ReplicaSet does not delete such pods. */
export function isOver(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
}

export function isLeaving(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined;
}

/** The reason why a pod was removed by another cause than its engine; undefined if it was not. */
export function disruptionOf(pod: Pod): ObservationReason | undefined {
  const target = conditionOf(pod, 'DisruptionTarget');
  const byPod = POD_REASONS[pod.status?.reason ?? ''];
  // Pressure on a node and its shutdown have one condition and two words in `status.reason`.
  if (target?.status === 'True') return byPod ?? DISRUPTION_REASONS[target.reason ?? ''] ?? 'evicted';
  if (byPod !== undefined) return byPod;
  return isNodeSilent(pod) ? 'node_lost' : undefined;
}

/**
 * Whether the pod's node does not answer. Then the node controller marks the pod as not ready, while its containers
 * still count as ready. Kubelets write both conditions together, unless the pod has readiness gates.
 */
export function isNodeSilent(pod: Pod): boolean {
  const gates = pod.spec?.['readinessGates'];
  if (Array.isArray(gates) && gates.length > 0) return false;
  return conditionOf(pod, 'Ready')?.status === 'False' && conditionOf(pod, 'ContainersReady')?.status === 'True';
}

export function engineStatus(pod: Pod): ContainerStatus | undefined {
  return pod.status?.containerStatuses?.find(({ name }) => name === ENGINE_CONTAINER);
}

/**
 * Containers that must end before the engine starts. A container that always restarts runs together with the engine.
 */
export function initStatuses(pod: Pod): ContainerStatus[] {
  const containers = pod.spec?.initContainers ?? [];
  const beside = new Set(containers.filter((one) => one['restartPolicy'] === 'Always').map(({ name }) => name));
  return (pod.status?.initContainerStatuses ?? []).filter(({ name }) => !beside.has(name));
}

/** How often the kubelet has restarted the containers that the engine needs. Only grows within a pod. */
export function restartsOf(pod: Pod): number {
  const counted = [...initStatuses(pod), ...[engineStatus(pod) ?? []].flat()];
  return counted.reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}

/**
 * Identifies one life of the engine: another pod, and another start in the same pod, are other lives. In a group such a
 * start is not a life: all pods are replaced because of it, and it would count twice.
 */
export function podIncarnation(pod: Pod): string {
  return `${pod.metadata.uid}/${isOfGroup(pod) ? 0 : restartsOf(pod)}`;
}

/** How the last run of a container ended. */
export function exitOf(status: ContainerStatus | undefined): (LastExit & { words?: string }) | undefined {
  const ended = status?.state?.terminated ?? status?.lastState?.terminated;
  if (!ended) return undefined;
  const { exitCode, reason, finishedAt, message } = ended;
  return {
    code: exitCode ?? null,
    reason: exitReason(exitCode, reason, message),
    ...(finishedAt ? { at: finishedAt } : {}),
    ...(message ? { words: message } : {}),
  };
}

/** How a container ended, with the line of its termination message or of its log that says why. */
export function endWords(who: string, { code, reason, words }: LastExit & { words?: string }): string {
  const how =
    reason === 'out_of_memory' ? `was killed because it ran out of memory (code ${code})` : `ended with code ${code}`;
  const line = words === undefined ? undefined : endLine(words, code);
  return line === undefined ? `${who} ${how}` : `${who} ${how}: ${line}`;
}

/** The kubelet takes the last bytes of a log as the termination message, so its first line may be a part of one. */
const FULL_MESSAGE_BYTES = 2_048;

function endLine(message: string, code: number | null): string | undefined {
  const all = message.split('\n');
  const isPart = all.length > 1 && Buffer.byteLength(message) >= FULL_MESSAGE_BYTES - 1;
  const lines = (isPart ? all.slice(1) : all).map((text) => ({ stream: 'stderr' as const, text }));
  return shownWords(startFailure({ code, signal: null }, lines).line);
}

/** How a pod that is deleted, or is about to be, has ended. */
export function endOfPod(pod: Pod): LastExit {
  const { code = null, at } = exitOf(engineStatus(pod)) ?? {};
  const since = at ?? pod.metadata.deletionTimestamp;
  // A kubelet has a reason if it refused the pod. One that only ended a deleted pod has none.
  const isRefused = isOver(pod) && (!isLeaving(pod) || pod.status?.reason !== undefined);
  const ended = disruptionOf(pod) ?? exitBeforeDeletion(pod)?.reason ?? (isRefused ? 'killed' : 'deleted');
  return { code, reason: ended, ...(since ? { at: since } : {}) };
}

/**
 * The end of an engine that no longer ran when a client deleted its pod. Such a deletion is no excuse: the engine had
 * crashed. Any other engine of a deleted pod was ended by the deletion, whatever its exit code is.
 */
function exitBeforeDeletion(pod: Pod): LastExit | undefined {
  const status = engineStatus(pod);
  const exit = status?.state?.running ? undefined : exitOf(status);
  if (!isLeaving(pod)) return exit;
  const { deletionTimestamp = '', deletionGracePeriodSeconds: graceSeconds } = pod.metadata;
  // When its kubelet removes the pod, the server replaces both by the present. The spec then has the most that it was.
  const agoSeconds = graceSeconds || (pod.spec?.terminationGracePeriodSeconds ?? 0);
  const deletedAt = Date.parse(deletionTimestamp) - agoSeconds * 1_000;
  // A container that was never started ends without a time.
  return Date.parse(exit?.at ?? '') < deletedAt ? exit : undefined;
}

/**
 * How a pod of a group ended, as the end of the group: the restart of one container is why the other pods end.
 * @param known the end of the pods that ended before
 */
export function endInGroup(pod: Pod, known: LastExit | undefined): LastExit {
  const end = endOfMember(pod);
  const isWithOthers = Math.abs(Date.parse(end.at ?? '') - Date.parse(known?.at ?? '')) < TOGETHER_MS;
  // If pods end together, the cause is that of a pod which did not just end with the others.
  return known && !isPassive(known) && isPassive(end) && isWithOthers ? known : end;
}

/** The controller deletes all pods of a group in which a container has restarted, so that counts first. */
function endOfMember(pod: Pod): LastExit {
  const end = endOfPod(pod);
  return end.reason === 'deleted' && restartsOf(pod) > 0 ? (exitBefore(pod) ?? end) : end;
}

const isPassive = ({ reason }: LastExit): boolean => reason === 'killed' || reason === 'deleted';

/** The end of the previous life in the same pod. */
export function exitBefore(pod: Pod): LastExit | undefined {
  const ends = [engineStatus(pod), ...initStatuses(pod)]
    .filter((status) => (status?.restartCount ?? 0) > 0 || (status?.state?.terminated?.exitCode ?? 0) !== 0)
    .flatMap((status) => exitOf(status) ?? []);
  const last = newestOf(ends);
  if (!last) return undefined;
  const { code, reason, at } = last;
  return { code, ...(reason && { reason }), ...(at && { at }) };
}

export function newestOf<T extends { at?: string }>(ends: readonly T[]): T | undefined {
  return ends.reduce<T | undefined>(
    (best, one) => (best === undefined || (one.at ?? '') > (best.at ?? '') ? one : best),
    undefined,
  );
}

function exitReason(code: number | undefined, reason = '', message = ''): ObservationReason {
  if (reason === 'OOMKilled') return 'out_of_memory';
  if (reason === 'StartError' || reason === 'ContainerCannotRun')
    return /not found|no such file/i.test(message) ? 'program_not_found' : 'start_failed';
  return code !== undefined && code > 128 ? 'killed' : 'exited';
}
