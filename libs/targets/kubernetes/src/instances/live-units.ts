import { LRUCache } from 'lru-cache';
import { DEPLOYMENTS, LEADER_WORKER_SETS, PODS } from '../api/kinds.js';
import { ApiError } from '../api/errors.js';
import type { LeaderWorkerSet, Pod } from '../api/objects.js';
import type { KubeApi } from '../api/requests.js';
import { conditionOf, disruptionOf, isLeaving } from './pod-ends.js';
import { isStopped, livePods } from './pod-state.js';
import { kindOf, type Unit } from '../manifests/unit-kind.js';
import { instanceIdOf, instanceLabels } from '../manifests/unit-labels.js';
import type { InstanceObjects } from './unit-watch.js';

/** When a unit was told to stop. With it, and no replicas, a unit is the mark that its generation was started once. */
const STOPPED_AT = 'slipway.dev/stopped-at';
/** Who applies the end of a unit: other than who made it, so that neither takes the other's fields away. */
const STOPPER = { manager: 'slipway-stop', force: true };
/** Beyond its grace a pod on a node that is lost holds nothing up: nobody is left to tell us of its end. */
const LOST_AFTER_MS = 60_000;
/** And so long beyond it one of a group is taken away: until then the others would wait for it. */
const ABANDONED_AFTER_MS = 30_000;
const DEFAULT_GRACE_SECONDS = 30;
const MOST_LEAVING = 10_000;

export function isTombstone(unit: Unit): boolean {
  return isStopped(unit) && unit.metadata.annotations?.[STOPPED_AT] !== undefined;
}

/** How long ago it was told to stop; undefined for one that was not, or by a clock that is ahead of ours. */
export function stoppedSecondsAgo(unit: Unit): number | undefined {
  const at = Date.parse(unit.metadata.annotations?.[STOPPED_AT] ?? '');
  return Number.isFinite(at) && isStopped(unit) ? (Date.now() - at) / 1_000 : undefined;
}

/** Told to stop, and its controller has heard it: no pod comes any more. */
function isSettled(unit: Unit): boolean {
  const { replicas = 0 } = unit.status ?? {};
  return isStopped(unit) && replicas === 0 && (kindOf(unit) === LEADER_WORKER_SETS ? isIdle(unit) : isObserved(unit));
}

function isObserved({ status, metadata: { generation = 0 } }: Unit): boolean {
  const observed = status?.['observedGeneration'] as number | undefined;
  return (observed ?? Infinity) >= generation;
}

/** Its controller does not say which generation it has heard of. Of no replicas none are missing, which it says then and only then. */
function isIdle({ status }: LeaderWorkerSet): boolean {
  return status?.conditions?.some((one) => one.type === 'Available' && one.status === 'True') ?? false;
}

export interface LiveOptions {
  /** Beyond its grace: when a pod on a lost node holds nothing up any more, and when one of a group is taken away. */
  lostAfterMs?: number;
  abandonedAfterMs?: number;
  /** Whether there may be units that are groups. */
  hasGroups?(): boolean;
}

/** What the API server has of units now, and how one is ended. Nothing here trusts a cache. */
export class LiveUnits {
  /** When a pod was first seen to leave, by this process's own clock: that of the server may be another. */
  private readonly leaving = new LRUCache<string, number>({ max: MOST_LEAVING });

  constructor(
    private readonly api: KubeApi,
    private readonly targetLabels: Record<string, string>,
    private readonly options: LiveOptions = {},
  ) {}

  /** All that there is of an instance in the namespaces. */
  async find(instanceId: string, namespaces: readonly string[]): Promise<InstanceObjects> {
    const labelSelector = selectorOf({ ...this.targetLabels, ...instanceLabels(instanceId) });
    const found = await Promise.all(
      namespaces.map(async (namespace) => {
        const [units, groups, pods] = await Promise.all([
          this.api.list<Unit>(DEPLOYMENTS, namespace, { labelSelector }),
          this.options.hasGroups?.() ? this.groups(namespace, labelSelector) : [],
          this.api.list<Pod>(PODS, namespace, { labelSelector }),
        ]);
        return { units: [...units.items, ...groups], pods: pods.items };
      }),
    );
    const isOfInstance = ({ metadata }: Unit | Pod) => instanceIdOf(metadata) === instanceId;
    return {
      units: found.flatMap(({ units }) => units).filter(isOfInstance),
      pods: found.flatMap(({ pods }) => pods).filter(isOfInstance),
    };
  }

  /**
   * Tells a unit to stop, for good. An apply for an object that is gone would have to make one without what every unit must have, and
   * of another uid: it makes none.
   */
  async stop(unit: Unit): Promise<Unit | undefined> {
    const { name, namespace = '', uid } = unit.metadata;
    const metadata = { name, uid, annotations: { [STOPPED_AT]: new Date().toISOString() } };
    try {
      return await this.api.apply<Unit>(kindOf(unit), namespace, { metadata, spec: { replicas: 0 } }, STOPPER);
    } catch (error) {
      if (error instanceof ApiError && GONE.has(error.status)) return undefined;
      throw error;
    }
  }

  /** Removes the mark of a generation; its pods must be gone. */
  async bury(unit: Unit): Promise<void> {
    const { name, namespace = '', uid } = unit.metadata;
    await this.api.delete(kindOf(unit), namespace, name, { uid });
  }

  /** Whether something of it runs, or may yet: a pod on a node that is lost for good does not. */
  isOccupied({ units, pods }: InstanceObjects): boolean {
    return units.some((unit) => !isSettled(unit)) || livePods(pods).some((pod) => !this.isLost(pod));
  }

  private isLost(pod: Pod): boolean {
    const uid = pod.metadata.uid ?? '';
    if (!isLeaving(pod) || disruptionOf(pod) !== 'node_lost') {
      this.leaving.delete(uid);
      return false;
    }
    return this.isOverdue(pod, this.options.lostAfterMs ?? LOST_AFTER_MS);
  }

  /** Whether a pod of a group stays only because nobody on its node is left to end it: its place in the group is not given to another one. */
  isAbandoned(pod: Pod): boolean {
    const isByTaint = conditionOf(pod, 'DisruptionTarget')?.reason === 'DeletionByTaintManager';
    return isLeaving(pod) && isByTaint && this.isOverdue(pod, this.options.abandonedAfterMs ?? ABANDONED_AFTER_MS);
  }

  private isOverdue({ metadata }: Pod, byMs: number): boolean {
    const { uid = '', deletionGracePeriodSeconds: graceSeconds = DEFAULT_GRACE_SECONDS } = metadata;
    const since = this.leaving.get(uid) ?? performance.now();
    this.leaving.set(uid, since);
    return performance.now() - since > graceSeconds * 1_000 + byMs;
  }

  /** A server that does not know the type has none of them. */
  private async groups(namespace: string, labelSelector: string): Promise<Unit[]> {
    try {
      return (await this.api.list<Unit>(LEADER_WORKER_SETS, namespace, { labelSelector })).items;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }
}

/** No such object; another object of its name; not enough said to make one. */
const GONE = new Set([404, 409, 422]);

export function selectorOf(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
