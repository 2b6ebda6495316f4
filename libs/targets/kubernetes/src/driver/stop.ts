import type { DriverHost, InstanceRef } from '@slipway/target-driver';
import type { KubernetesSession } from './session.js';
import { isTombstone, stoppedSecondsAgo } from '../instances/live-units.js';
import { podIncarnation } from '../instances/pod-ends.js';
import { isStopped, livePods, podOf } from '../instances/pod-state.js';
import { generationIn, type InstanceObjects } from '../instances/unit-watch.js';

/** Marks that one call removes: a target with months of old marks must not send a thousand requests at once. */
const MOST_BURIALS = 50;

/** Begins to stop all generations, and returns whether anything is left. */
export async function stopUnits(
  { live, watch }: KubernetesSession,
  instanceId: string,
  namespaces: readonly string[],
  pausePoint: DriverHost['pausePoint'],
): Promise<'stopping' | 'gone'> {
  const cached = watch.of(instanceId);
  // A caller repeats this often while a stop takes its time. The existence of pods needs no live answer.
  if (cached.units.length > 0 && cached.units.every(isTombstone) && live.isOccupied(cached)) return 'stopping';
  const found = await live.find(instanceId, namespaces);
  const running = found.units.filter((unit) => !isTombstone(unit));
  if (running.length > 0) await pausePoint('before-stop');
  const stopped = await Promise.all(running.map((unit) => live.stop(unit)));
  if (running.length > 0) await pausePoint('after-stop');
  for (const unit of stopped) if (unit) watch.remember(unit);
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

/** Removes marks that are older than any late caller. */
export async function buryUnits({ live, watch }: KubernetesSession, retainSeconds: number): Promise<void> {
  const old = [...watch.all()]
    .filter(([, objects]) => !live.isOccupied(objects))
    .flatMap(([, { units }]) => units.filter((unit) => (stoppedSecondsAgo(unit) ?? -1) > retainSeconds));
  await Promise.all(old.slice(0, MOST_BURIALS).map((unit) => live.bury(unit)));
}

/** The namespaces in which the cache has something of an instance. */
export function namespacesIn({ units, pods }: InstanceObjects): string[] {
  return [...new Set([...units, ...pods].flatMap(({ metadata: { namespace } }) => namespace ?? []))];
}

function refOf(instanceId: string, { units, pods }: InstanceObjects): InstanceRef | undefined {
  const running = podOf(pods);
  const open = units.filter((unit) => !isStopped(unit)).map(generationIn);
  const generation = running ? generationIn(running) : Math.max(...open, ...livePods(pods).map(generationIn));
  if (!Number.isFinite(generation)) return undefined;
  return { instanceId, generation, ...(running && { incarnation: podIncarnation(running) }) };
}
