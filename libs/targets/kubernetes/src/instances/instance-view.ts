import type { InstanceSpec, Observation } from '@slipway/target-driver';
import type { Pod } from '../api/objects.js';
import { isLeaving, isOver } from './pod-ends.js';
import { isStopped, livePods, observationOf, type UnitSnapshot } from './pod-state.js';
import { driftOf } from './unit-drift.js';
import type { Unit } from '../manifests/unit-kind.js';
import { generationIn, type InstanceObjects } from './unit-watch.js';

/** The state of a generation by the objects of its instance, and the units that must end. */
export interface InstanceView {
  observation: Observation;
  /** Units that run although a newer one exists. */
  outdated: Unit[];
  /** The unit of the generation, and its pods. */
  own?: { unit: Unit; pods: Pod[] };
}

type Memory = Pick<UnitSnapshot, 'left' | 'wasReady' | 'reach' | 'refused' | 'lateMs'> & {
  /** Pods of the instance's units that the watch no longer shows. */
  strays?: readonly Pod[];
  createdSpecOf?(unit: Unit): string | undefined;
};

/** Makes one observation. Pure. It reads all generations, because the state of one depends on the others. */
export function viewInstance(
  { generation }: Pick<InstanceSpec, 'generation'>,
  objects: InstanceObjects,
  memory: Memory = {},
): InstanceView {
  const units = [...objects.units].sort((a, b) => generationIn(b) - generationIn(a));
  const newest = units[0] ? generationIn(units[0]) : 0;
  const outdated = units.filter((unit) => generationIn(unit) < newest && !isStopped(unit));
  const unit = units.find((one) => generationIn(one) === generation);
  const podsOf = (which: number) => objects.pods.filter((pod) => generationIn(pod) === which);
  const own = unit && { unit, pods: podsOf(generation) };
  const about = { outdated, ...(own && { own }) };
  if (newest > generation)
    return { ...about, observation: { state: 'exited', reason: 'replaced', generation: newest } };
  if (!own) return { outdated: [], observation: withoutUnit(units, objects.pods) };
  const observation = observationOf({ ...own, generation, ...memory });
  // The worker that started it died before it wrote the Secret, or the Secret was deleted. So the unit was not started
  // completely.
  if (lacksOwnSecret(own.unit, observation)) return { ...about, observation: { ...observation, state: 'absent' } };
  const strays = [...(memory.strays ?? []), ...objects.pods.filter((pod) => isStrayOf(own.unit, pod))];
  const drift = driftOf({ ...own, strays }, memory.createdSpecOf?.(own.unit));
  return { ...about, observation: drift === undefined ? observation : { ...observation, drift } };
}

/** Whether a client took the pod's generation away, so that the controller of the unit has replaced the pod. */
function isStrayOf(unit: Unit, pod: Pod): boolean {
  const isOurs = pod.metadata.name.startsWith(`${unit.metadata.name}-`);
  return isOurs && generationIn(pod) !== generationIn(unit) && !isLeaving(pod) && !isOver(pod);
}

/** The state of a generation that was never started, as far as these objects show. */
function withoutUnit(units: readonly Unit[], pods: readonly Pod[]): Observation {
  const left = livePods(pods)[0];
  const running = units.find((unit) => !isStopped(unit));
  if (running) return { state: 'absent', generation: generationIn(running) };
  if (!left) return { state: 'absent' };
  return { state: 'stopping', generation: generationIn(left), message: messageOf(left, units) };
}

/** No controller ends a pod whose unit was deleted with `--cascade=orphan`, and our Role may not delete it. */
function messageOf(left: Pod, units: readonly Unit[]): string {
  const { name, namespace, ownerReferences = [] } = left.metadata;
  if (isLeaving(left) || units.some((unit) => generationIn(unit) === generationIn(left)))
    return `pod ${name} of an older generation still exists`;
  const owner = ownerReferences.find(({ controller }) => controller) ?? { kind: 'Pod', name };
  const command = `kubectl -n ${namespace} delete ${owner.kind.toLowerCase()} ${owner.name}`;
  return `the unit of pod ${name} no longer exists. If the pod remains, it is orphaned. Delete it with: ${command}`;
}

function lacksOwnSecret({ metadata }: Unit, { reason, message = '' }: Observation): boolean {
  return reason === 'config_error' && message.includes(`"${metadata.name}" not found`);
}

/** States that a cache alone must not report, because it may lag. */
export function isNegative({ state, reason }: Observation): boolean {
  return state === 'absent' || (state === 'exited' && reason !== 'replaced');
}
