import type { InstanceSpec, Observation } from '@slipway/target-driver';
import type { Pod } from '../api/objects.js';
import { isLeaving } from './pod-ends.js';
import { driftOf, isStopped, livePods, observationOf, type UnitSnapshot } from './pod-state.js';
import type { Unit } from '../manifests/unit-kind.js';
import { generationIn, type InstanceObjects } from './unit-watch.js';

/** What one look at an instance's objects says of a generation, and which units must end by it. */
export interface InstanceView {
  observation: Observation;
  /** Units that run although a newer one is there. */
  outdated: Unit[];
  /** The unit of the generation, and its pods. */
  own?: { unit: Unit; pods: Pod[] };
}

type Memory = Pick<UnitSnapshot, 'left' | 'wasReady' | 'reach' | 'refused' | 'lateMs'>;

/** Pure. Knows all generations, since what becomes of one depends on the others. */
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
  // Its starter died before it wrote the secret, or somebody has taken it away: it was not started as a whole.
  if (lacksOwnSecret(own.unit, observation)) return { ...about, observation: { ...observation, state: 'absent' } };
  const drift = driftOf(own.unit);
  return { ...about, observation: drift === undefined ? observation : { ...observation, drift } };
}

/** A generation that was never started, as far as these objects say. */
function withoutUnit(units: readonly Unit[], pods: readonly Pod[]): Observation {
  const left = livePods(pods)[0];
  const running = units.find((unit) => !isStopped(unit));
  if (running) return { state: 'absent', generation: generationIn(running) };
  if (!left) return { state: 'absent' };
  return { state: 'stopping', generation: generationIn(left), message: messageOf(left, units) };
}

/** A pod whose unit was deleted with `--cascade=orphan` is ended by nobody, and our Role may not delete it. */
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

/** An answer that a cache alone must not give: it may only not have heard. */
export function isNegative({ state, reason }: Observation): boolean {
  return state === 'absent' || (state === 'exited' && reason !== 'replaced');
}
