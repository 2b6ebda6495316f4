import { PODS } from '../api/kinds.js';
import type { Pod } from '../api/objects.js';
import type { KubeApi } from '../api/requests.js';
import { isLate } from '../instances/group-state.js';
import type { LiveUnits } from '../instances/live-units.js';
import { isLeaving } from '../instances/pod-ends.js';
import { isStopped, podOf } from '../instances/pod-state.js';
import { isWorker, sizeOf, type Unit } from '../manifests/unit-kind.js';

/**
 * What the controller of groups does not do: it begins a group anew when it sees that one of its pods went, and sees it not where another one
 * has the name already; and it waits for ever for pods that a lost node cannot end. By the uid of a pod each, so that it is done once.
 */
export async function repairGroup(
  { api, live }: { api: Pick<KubeApi, 'delete'>; live: Pick<LiveUnits, 'isAbandoned'> },
  { unit, pods }: { unit: Unit; pods: readonly Pod[] },
  lateMs?: number,
): Promise<void> {
  if (sizeOf(unit) === 1) return;
  const remove = ({ metadata: { name, namespace = '', uid } }: Pod, how: { graceSeconds?: number; isLast?: boolean }) =>
    api.delete(PODS, namespace, name, { uid, ...how });
  for (const pod of pods) if (live.isAbandoned(pod)) await remove(pod, { graceSeconds: 0 });
  const leader = podOf(pods);
  if (isStopped(unit) || !leader || isLeaving(leader)) return;
  // After its workers, as the controller does it: the next leader must not meet those of the last.
  if (pods.some((pod) => isWorker(pod) && !isLeaving(pod) && isLate(pod, leader, lateMs)))
    await remove(leader, { isLast: true });
}
