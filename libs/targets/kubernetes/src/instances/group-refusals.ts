import type { KubeEvent, Pod } from '../api/objects.js';
import { sizeOf, type Unit } from '../manifests/unit-kind.js';

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
