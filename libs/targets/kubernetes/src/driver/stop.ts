import type { DriverHost, InstanceRef } from '@slipway/target-driver';
import type { KubernetesSession } from './session.js';
import type { TriedObject } from '../health/refused-objects.js';
import { kindOf, type Unit } from '../manifests/unit-kind.js';
import { instanceIdOf } from '../manifests/unit-labels.js';
import { isTombstone, stoppedSecondsAgo } from '../instances/live-units.js';
import { podIncarnation } from '../instances/pod-ends.js';
import { isStopped, livePods, podOf } from '../instances/pod-state.js';
import { generationIn, type InstanceObjects } from '../instances/unit-watch.js';

/** Marks that one call removes: a target with months of old marks must not send a thousand requests at once. */
const MOST_BURIALS = 50;
/** More marks than this in a namespace are not kept for their full time. */
const MOST_MARKS = 500;
/** No start is sent later than a minute after it was decided, and no call takes longer than 30 s. */
const SHORTEST_RETAIN_SECONDS = 120;

/** Stops a unit for good, unless it no longer exists. A refusal is a condition of the target until it succeeds. */
export async function stopUnit(
  { live, watch, refused }: Pick<KubernetesSession, 'live' | 'watch' | 'refused'>,
  unit: Unit,
): Promise<void> {
  try {
    const stopped = await live.stop(unit);
    refused.settle(objectOf(unit));
    if (stopped) watch.remember(stopped);
  } catch (error) {
    refused.note(objectOf(unit), 'stopped', error);
    throw error;
  }
}

/** Begins to stop all generations, and returns whether anything is left. */
export async function stopUnits(
  session: KubernetesSession,
  instanceId: string,
  namespaces: readonly string[],
  pausePoint: DriverHost['pausePoint'],
): Promise<'stopping' | 'gone'> {
  const { live, watch } = session;
  const cached = watch.of(instanceId);
  // A caller repeats this often while a stop takes its time. The existence of pods needs no live answer.
  if (cached.units.length > 0 && cached.units.every(isTombstone) && live.isOccupied(cached)) return 'stopping';
  const found = await live.find(instanceId, namespaces);
  const running = found.units.filter((unit) => !isTombstone(unit));
  if (running.length > 0) await pausePoint('before-stop');
  await Promise.all(running.map((unit) => stopUnit(session, unit)));
  if (running.length > 0) await pausePoint('after-stop');
  return running.length > 0 || live.isOccupied(found) ? 'stopping' : 'gone';
}

/** All instances that exist and have not ended, by id. If the cache shows a stopped instance, a live answer decides. */
export async function listUnits({ live, watch }: KubernetesSession): Promise<InstanceRef[]> {
  const refs: InstanceRef[] = [];
  for (const [instanceId, objects] of watch.all()) {
    const isEnding = objects.units.every(isTombstone);
    const current = isEnding && live.isOccupied(objects) ? await live.find(instanceId, namespacesIn(objects)) : objects;
    const ref = refOf(instanceId, current);
    if (ref && (!isEnding || live.isOccupied(current))) refs.push(ref);
  }
  return refs.sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
}

/**
 * Removes marks that are older than any late caller, the oldest first. A mark stays for `retainSeconds`. It may go after
 * two minutes if a quota of the namespace refuses new units, or if there are very many marks: no start is sent later.
 */
export async function buryUnits(
  { api, live, watch, crowded, refused }: KubernetesSession,
  retainSeconds: number,
): Promise<void> {
  const marks = [...watch.all()]
    .flatMap(([, { units, pods }]) =>
      units.filter((unit) => {
        const own = pods.filter((pod) => generationIn(pod) === generationIn(unit));
        return isTombstone(unit) && !live.isOccupied({ units: [unit], pods: own });
      }),
    )
    .map((unit) => ({ unit, age: stoppedSecondsAgo(unit) ?? -1, namespace: unit.metadata.namespace ?? '' }))
    .sort((one, other) => other.age - one.age);
  const counts = new Map<string, number>();
  for (const { namespace } of marks) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  const old = marks.filter(({ age, namespace }) => {
    const left = counts.get(namespace) ?? 0;
    const isEarly = crowded.has(namespace) || left > MOST_MARKS;
    if (age <= (isEarly ? Math.min(retainSeconds, SHORTEST_RETAIN_SECONDS) : retainSeconds)) return false;
    counts.set(namespace, left - 1);
    return true;
  });
  const buried = old.slice(0, MOST_BURIALS);
  const bury = async (unit: Unit) => {
    await live.bury(unit).catch((error: unknown) => {
      refused.note(objectOf(unit), 'deleted', error);
      throw error;
    });
    refused.settle(objectOf(unit));
  };
  await Promise.all(buried.map(({ unit }) => bury(unit)));
  // Units that a quota refused need not wait for their time.
  for (const namespace of new Set(buried.map((one) => one.namespace)))
    if (crowded.delete(namespace)) api.reopen((call) => call.verb === 'create' && call.namespace === namespace);
}

/** The namespaces in which the cache has something of an instance. */
export function namespacesIn({ units, pods }: InstanceObjects): string[] {
  return [...new Set([...units, ...pods].flatMap(({ metadata: { namespace } }) => namespace ?? []))];
}

function objectOf(unit: Unit): TriedObject {
  const { name, namespace = '' } = unit.metadata;
  return { kind: kindOf(unit), namespace, name, owner: instanceIdOf(unit.metadata) ?? '' };
}

function refOf(instanceId: string, { units, pods }: InstanceObjects): InstanceRef | undefined {
  const running = podOf(pods);
  const open = units.filter((unit) => !isStopped(unit)).map(generationIn);
  const generation = running ? generationIn(running) : Math.max(...open, ...livePods(pods).map(generationIn));
  if (!Number.isFinite(generation)) return undefined;
  return { instanceId, generation, ...(running && { incarnation: podIncarnation(running) }) };
}
