import { isIP } from 'node:net';
import type { ObservationReason } from '@slipway/contracts';
import type { Observation } from '@slipway/target-driver';
import type { ContainerStatus, Pod } from '../api/objects.js';
import { isFormer, isLate, summarizeGroup, type PodReport } from './pod-groups.js';
import { baseUrlOf } from '../manifests/reach.js';
import type { Reach } from '../target-config.js';
import { ENGINE_CONTAINER, isOfGroup, isWorker, servingTemplateOf, sizeOf, type Unit } from '../manifests/unit-kind.js';
import { unitServiceName } from '../manifests/unit-names.js';
import { PORT_NAME } from '../manifests/unit-probes.js';
import {
  conditionOf,
  disruptionOf,
  endInGroup,
  endOfPod,
  endWords,
  engineStatus,
  exitBefore,
  exitOf,
  podIncarnation,
  initStatuses,
  isLeaving,
  isOver,
  newestOf,
  restartsOf,
  shownWords,
} from './pod-ends.js';

/** The known state of one unit, from a watch or a live answer. */
export interface UnitSnapshot {
  unit: Unit;
  generation: number;
  /** Of this unit. */
  pods: readonly Pod[];
  /** How its last deleted pod ended, if that was observed. */
  left?: Observation['lastExit'];
  /** How requests reach the target's engines; by the addresses of their pods by default. */
  reach?: Reach;
  /** Whether this life of the engine was observed as ready before. */
  wasReady?: (incarnation: string) => boolean;
  /** Why pods of a group could not be created, in the words of the server. */
  refused?: (unit: Unit, pods: readonly Pod[]) => string | undefined;
  /** How much later than its leader a worker of a group may be created. */
  lateMs?: number | undefined;
}

const IMAGE_FAULTS = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
const CREATION_FAULTS = new Set(['CreateContainerError', 'RunContainerError']);

/** Whether the unit was stopped. If another client set the replicas to 0, it does not return by itself either. */
export function isStopped(unit: Unit): boolean {
  return unit.spec?.replicas === 0;
}

/** Pods in which a container may still run. */
export function livePods(pods: readonly Pod[]): Pod[] {
  return pods.filter((pod) => !isOver(pod));
}

/**
 * The pod of an instance, which in a group is its leader. A ready pod comes first, then the oldest, so that a second
 * pod that was created by hand does not replace it. A pod that is being deleted counts only if there is no other.
 */
export function podOf(pods: readonly Pod[]): Pod | undefined {
  const order = (pod: Pod) => (isLeaving(pod) ? 2 : isReady(pod) ? 0 : 1);
  const ageOf = (pod: Pod) => pod.metadata.creationTimestamp ?? '';
  return livePods(pods.filter((pod) => !isWorker(pod))).sort(
    (a, b) =>
      order(a) - order(b) ||
      (isLeaving(a) ? ageOf(b).localeCompare(ageOf(a)) : ageOf(a).localeCompare(ageOf(b))) ||
      a.metadata.name.localeCompare(b.metadata.name),
  )[0];
}

/** State, reason and message of one unit, from its objects. Pure. */
export function observationOf(seen: UnitSnapshot): Observation {
  const { unit, pods, generation } = seen;
  const pod = podOf(pods);
  const about = { generation, ...(pod && lifeOf(pod, seen)), ...lastExitOf(seen, pod), ...endingUrlOf(seen) };
  if (isStopped(unit))
    return { ...about, state: livePods(pods).length > 0 ? 'stopping' : 'exited', reason: 'terminated' };
  const { state, reason, message, isSecondHand } =
    sizeOf(unit) > 1 ? groupTold(seen, pod) : pod ? told(pod, seen) : withoutPod(seen);
  const words = shownWords(message);
  return {
    ...about,
    state,
    ...(reason === undefined ? {} : { reason }),
    ...(words === undefined ? {} : { message: words }),
    // A leader may answer although the node of another pod is lost.
    ...(isSecondHand && sizeOf(unit) === 1 && { isSecondHand }),
  };
}

/**
 * The address of the pod that is being ended while its engine still answers: the kubelet still reports its container as
 * ready. A group that lost a pod answers nothing. Through a Service, its replacement has the same address.
 */
function endingUrlOf({ unit, pods, reach = 'pod' }: UnitSnapshot): Pick<Observation, 'endingUrl'> {
  if (sizeOf(unit) > 1 || isStopped(unit)) return {};
  const ending = pods.filter((pod) => isLeaving(pod) && !isOver(pod) && engineStatus(pod)?.ready === true);
  const endingUrl = ending[0] && addressOf(podOf(ending) ?? ending[0], unit, reach);
  return endingUrl === undefined ? {} : { endingUrl };
}

/** The address for requests; undefined while there is none. */
function addressOf(pod: Pod, unit: Unit, reach: Reach): string | undefined {
  const port = portOf(unit);
  const { name, namespace = '' } = unit.metadata;
  if (port === undefined || !hasAddress(pod)) return undefined;
  const service = unitServiceName(name, isOfGroup(pod));
  return baseUrlOf({ reach }, { unit: name, namespace, port, service, podIp: pod.status?.podIP });
}

/** Other text must not become part of a URL. */
function hasAddress(pod: Pod): boolean {
  return isIP(pod.status?.podIP ?? '') !== 0;
}

function portOf(unit: Unit): number | undefined {
  const { containers = [] } = servingTemplateOf(unit)?.spec ?? {};
  const { ports = [] } = containers.find(({ name }) => name === ENGINE_CONTAINER) ?? {};
  return (ports.find(({ name }) => name === PORT_NAME) ?? ports[0])?.containerPort;
}

function lifeOf(pod: Pod, { unit, reach = 'pod' }: UnitSnapshot): Partial<Observation> {
  const baseUrl = addressOf(pod, unit, reach);
  const node = pod.spec?.nodeName;
  return {
    incarnation: podIncarnation(pod),
    restarts: restartsOf(pod),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(node ? { place: node } : {}),
  };
}

/** The end of the previous life, in the same pod or in the previous one. */
function lastExitOf({ unit, pods, left }: UnitSnapshot, pod: Pod | undefined): Pick<Observation, 'lastExit'> {
  const here = pod && newestOf([pod, ...workersOf(pods)].flatMap((one) => exitBefore(one) ?? []));
  if (here) return { lastExit: here };
  const others = pods.filter((one) => one !== pod && (isLeaving(one) || isOver(one)));
  const lastExit =
    sizeOf(unit) > 1
      ? others.reduce((known, one) => endInGroup(one, known), left)
      : (newestOf(others.map(endOfPod)) ?? left);
  return lastExit ? { lastExit } : {};
}

/** Combines the states of several pods, and the reason why pods are missing. */
function groupTold(seen: UnitSnapshot, leader: Pod | undefined): PodReport {
  const { unit, pods, refused } = seen;
  const words = refused?.(unit, pods);
  return summarizeGroup({
    leader: leader && memberTold(leader, leader, seen),
    workers: workersOf(pods).map((pod) => memberTold(pod, leader, seen)),
    size: sizeOf(unit),
    ...(words !== undefined && { refused: refusal(words) }),
  });
}

/**
 * A worker that runs may belong to another leader, or may be about to end with the others because it restarted alone.
 */
function memberTold(pod: Pod, leader: Pod | undefined, seen: UnitSnapshot): PodReport {
  const own = told(pod, seen);
  if (own.state !== 'ready' || !leader) return own;
  const { name } = pod.metadata;
  if (restartsOf(pod) > 0)
    return { state: 'starting', reason: 'loading', message: `pod ${name} restarted without its group` };
  const message = `pod ${name} was not started with the current leader`;
  if (isLate(pod, leader, seen.lateMs)) return { state: 'unhealthy', reason: 'killed', message };
  return isFormer(pod, leader) ? { state: 'starting', reason: 'loading', message } : own;
}

function workersOf(pods: readonly Pod[]): Pod[] {
  return livePods(pods).filter(isWorker);
}

const refusal = (message: string | undefined): PodReport => ({
  state: 'starting',
  reason: refusalReason(message),
  message,
});

function withoutPod({ unit, pods }: UnitSnapshot): PodReport {
  const refused = unit.status?.conditions?.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (refused) return refusal(refused.message);
  const over = pods.filter(isOver).at(-1);
  if (!over) return { state: 'starting', reason: 'loading', message: 'its pod does not exist yet' };
  return { state: 'unhealthy', reason: endOfPod(over).reason ?? 'killed', message: over.status?.message };
}

const OF_QUOTA =
  /exceed\w*\s+(?:\w+\s+)?quota|quota\s+(?:\S+\s+)?exceeded|insufficient quota|status unknown for quota/i;
const OF_CLUSTER =
  /fail\w+ (?:calling|to call) webhook|is being terminated|deadline exceeded|timed out|too many requests/i;

/** The reason of a refusal, from the server's words, which are the only source. */
export function refusalReason(words = '', status?: number): ObservationReason {
  if (OF_QUOTA.test(words)) return 'quota_exceeded';
  if (/denied (?:the )?request/i.test(words)) return 'admission_denied';
  // The cluster's own trouble, which passes. The instance is not the cause.
  if (OF_CLUSTER.test(words)) return 'target_unavailable';
  if (/PodSecurity|webhook|admission/i.test(words)) return 'admission_denied';
  const isInvalid = status === 400 || status === 422 || /is invalid|invalid value|unknown field/i.test(words);
  return isInvalid ? 'invalid_template' : 'admission_denied';
}

function isReady(pod: Pod): boolean {
  return conditionOf(pod, 'Ready')?.status === 'True' && !isLeaving(pod);
}

function told(pod: Pod, { wasReady }: UnitSnapshot): PodReport {
  const disruption = disruptionOf(pod);
  if (isLeaving(pod) || disruption !== undefined) return leaving(pod, disruption);
  if (isReady(pod) && hasAddress(pod)) return { state: 'ready' };
  return (
    unscheduled(pod) ??
    initialising(pod) ??
    waiting(engineStatus(pod)) ??
    serving(pod, wasReady?.(podIncarnation(pod)) ?? false)
  );
}

function leaving(pod: Pod, disruption: ObservationReason | undefined): PodReport {
  const told = conditionOf(pod, 'DisruptionTarget')?.message ?? pod.status?.message;
  const silent = `node ${pod.spec?.nodeName} does not respond to its cluster`;
  // A node that no longer reports may well run its pods.
  if (disruption === 'node_lost')
    return { state: 'unhealthy', reason: disruption, message: told ?? silent, isSecondHand: true };
  const message = told ?? `pod ${pod.metadata.name} is being deleted`;
  return { state: 'unhealthy', reason: disruption ?? 'deleted', message };
}

function unscheduled(pod: Pod): PodReport | undefined {
  const scheduled = conditionOf(pod, 'PodScheduled');
  if (scheduled?.status !== 'False') return undefined;
  const reason = scheduled.reason === 'SchedulingGated' ? 'gated' : 'unschedulable';
  return { state: 'starting', reason, message: scheduled.message };
}

function initialising(pod: Pod): PodReport | undefined {
  const statuses = initStatuses(pod);
  const current = statuses.find(({ state }) => state?.terminated?.exitCode !== 0);
  if (!current || engineStatus(pod)?.state?.running) return undefined;
  const fault = faultBeforeStart(current);
  if (fault) return fault;
  const exit = exitOf(current);
  const isFailed = current.state?.running === undefined && exit !== undefined && exit.code !== 0;
  if (isFailed) return { state: 'starting', reason: 'init_failed', message: endWords(current.name, exit) };
  // The container has not run yet while the node still creates the pod.
  if (current.state?.running === undefined && current === statuses[0]) return { state: 'starting', reason: 'loading' };
  return { state: 'starting', reason: 'loading_weights', message: `container ${current.name} runs before the engine` };
}

function waiting(status: ContainerStatus | undefined): PodReport | undefined {
  if (!status || status.state?.running) return undefined;
  const fault = faultBeforeStart(status);
  if (fault) return fault;
  const exit = exitOf(status);
  if (exit) return { state: 'starting', reason: loopReason(exit.reason), message: endWords('the engine', exit) };
  const { reason: why, message } = status.state?.waiting ?? {};
  return { state: 'starting', reason: 'loading', message: message ?? why };
}

/** The fault of a container that cannot even be created. */
function faultBeforeStart({ state }: ContainerStatus): PodReport | undefined {
  const { reason: why = '', message } = state?.waiting ?? {};
  const words = message ? `${why}: ${message}` : why;
  if (IMAGE_FAULTS.has(why)) return { state: 'starting', reason: 'image_pull_failed', message: words };
  if (why === 'CreateContainerConfigError') return { state: 'starting', reason: 'config_error', message: words };
  if (CREATION_FAULTS.has(why)) return { state: 'starting', reason: 'start_failed', message: words };
  return undefined;
}

function loopReason(reason: ObservationReason | undefined): ObservationReason {
  return reason === undefined || reason === 'exited' || reason === 'killed' ? 'crash_loop' : reason;
}

/** The engine runs. An engine that was never ready in this life is starting, whatever its readiness is. */
function serving(pod: Pod, wasReady: boolean): PodReport {
  const status = engineStatus(pod);
  const ready = conditionOf(pod, 'Ready');
  const startedAt = status?.state?.running?.startedAt;
  const isSince = startedAt !== undefined && (ready?.lastTransitionTime ?? '') > startedAt;
  if (status?.started && (wasReady || isSince))
    return {
      state: 'unhealthy',
      reason: 'probe_failed',
      message: ready?.message ?? 'it does not respond to its probe',
    };
  return { state: 'starting', reason: 'loading' };
}
