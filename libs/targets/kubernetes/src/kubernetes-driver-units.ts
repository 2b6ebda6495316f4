import { LRUCache } from 'lru-cache';
import { DEPLOYMENTS, PODS } from './api/kinds.js';
import { ApiError } from './api/errors.js';
import type { Deployment, Pod } from './api/objects.js';
import type { KubeApi } from './api/requests.js';
import { disruptionOf, isLeaving } from './pod-state-ends.js';
import { isStopped, livePods } from './pod-state.js';
import { instanceIdOf, instanceLabels } from './unit-labels.js';
import type { InstanceObjects } from './unit-watch.js';

/** When a unit was told to stop. With it, and no replicas, a unit is the mark that its generation was started once. */
const STOPPED_AT = 'slipway.dev/stopped-at';
/** Who applies the end of a unit: other than who made it, so that neither takes the other's fields away. */
const STOPPER = { manager: 'slipway-stop', force: true };
/** Beyond its grace a pod on a node that is lost holds nothing up: nobody is left to tell us of its end. */
const LOST_AFTER_MS = 60_000;
const DEFAULT_GRACE_SECONDS = 30;
const MOST_LEAVING = 10_000;

export function isTombstone(unit: Deployment): boolean {
  return isStopped(unit) && unit.metadata.annotations?.[STOPPED_AT] !== undefined;
}

/** How long ago it was told to stop; undefined for one that was not, or by a clock that is ahead of ours. */
export function stoppedSecondsAgo(unit: Deployment): number | undefined {
  const at = Date.parse(unit.metadata.annotations?.[STOPPED_AT] ?? '');
  return Number.isFinite(at) && isStopped(unit) ? (Date.now() - at) / 1_000 : undefined;
}

/** Told to stop, and its controller has heard it: no pod comes any more. */
function isSettled(unit: Deployment): boolean {
  const { observedGeneration, replicas = 0 } = unit.status ?? {};
  return isStopped(unit) && replicas === 0 && (observedGeneration ?? Infinity) >= (unit.metadata.generation ?? 0);
}

/** What the API server has of units now, and how one is ended. Nothing here trusts a cache. */
export class LiveUnits {
  /** When a pod was first seen to leave, by this process's own clock: that of the server may be another. */
  private readonly leaving = new LRUCache<string, number>({ max: MOST_LEAVING });

  constructor(
    private readonly api: KubeApi,
    private readonly targetLabels: Record<string, string>,
    private readonly lostAfterMs = LOST_AFTER_MS,
  ) {}

  /** All that there is of an instance in the namespaces. */
  async find(instanceId: string, namespaces: readonly string[]): Promise<InstanceObjects> {
    const labelSelector = selectorOf({ ...this.targetLabels, ...instanceLabels(instanceId) });
    const found = await Promise.all(
      namespaces.map(async (namespace) => {
        const [units, pods] = await Promise.all([
          this.api.list<Deployment>(DEPLOYMENTS, namespace, { labelSelector }),
          this.api.list<Pod>(PODS, namespace, { labelSelector }),
        ]);
        return { units: units.items, pods: pods.items };
      }),
    );
    const isOfInstance = ({ metadata }: Deployment | Pod) => instanceIdOf(metadata) === instanceId;
    return {
      units: found.flatMap(({ units }) => units).filter(isOfInstance),
      pods: found.flatMap(({ pods }) => pods).filter(isOfInstance),
    };
  }

  /**
   * Tells a unit to stop, for good. An apply for an object that is gone would have to make one without what every Deployment must have, and
   * of another uid: it makes none.
   */
  async stop(unit: Deployment): Promise<Deployment | undefined> {
    const { name, namespace = '', uid } = unit.metadata;
    const metadata = { name, uid, annotations: { [STOPPED_AT]: new Date().toISOString() } };
    try {
      return await this.api.apply<Deployment>(DEPLOYMENTS, namespace, { metadata, spec: { replicas: 0 } }, STOPPER);
    } catch (error) {
      if (error instanceof ApiError && GONE.has(error.status)) return undefined;
      throw error;
    }
  }

  /** Removes the mark of a generation; its pods must be gone. */
  async bury({ metadata: { name, namespace = '', uid } }: Deployment): Promise<void> {
    await this.api.delete(DEPLOYMENTS, namespace, name, { uid });
  }

  /** Whether something of it runs, or may yet: a pod on a node that is lost for good does not. */
  isHeld({ units, pods }: InstanceObjects): boolean {
    return units.some((unit) => !isSettled(unit)) || livePods(pods).some((pod) => !this.isLost(pod));
  }

  private isLost(pod: Pod): boolean {
    const uid = pod.metadata.uid ?? '';
    if (!isLeaving(pod) || disruptionOf(pod) !== 'node_lost') {
      this.leaving.delete(uid);
      return false;
    }
    const since = this.leaving.get(uid) ?? performance.now();
    this.leaving.set(uid, since);
    const graceSeconds = pod.metadata.deletionGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    return performance.now() - since > graceSeconds * 1_000 + this.lostAfterMs;
  }
}

/** No such object; another object of its name; not enough said to make one. */
const GONE = new Set([404, 409, 422]);

export function selectorOf(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
