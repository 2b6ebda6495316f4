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

/**
 * The time at which a unit was stopped. A unit with it and without replicas is the mark that its generation was started
 * once.
 */
const STOPPED_AT = 'slipway.dev/stopped-at';
/**
 * The field manager of a stop. It differs from the manager that created the unit, so that neither removes the other's
 * fields.
 */
const STOPPER = { manager: 'slipway-stop', force: true };
/**
 * After its grace period and this time, a pod on a lost node no longer counts, because no kubelet is left to report its
 * end.
 */
const LOST_AFTER_MS = 60_000;
/** After its grace period and this time, such a pod of a group is deleted, because the others would wait for it. */
const ABANDONED_AFTER_MS = 30_000;
const DEFAULT_GRACE_SECONDS = 30;
const MOST_LEAVING = 10_000;

export function isTombstone(unit: Unit): boolean {
  return isStopped(unit) && unit.metadata.annotations?.[STOPPED_AT] !== undefined;
}

/**
 * Seconds since the unit was stopped. Undefined if it was not stopped. Negative if the clock that wrote the time is
 * ahead of ours.
 */
export function stoppedSecondsAgo(unit: Unit): number | undefined {
  const at = Date.parse(unit.metadata.annotations?.[STOPPED_AT] ?? '');
  return Number.isFinite(at) && isStopped(unit) ? (Date.now() - at) / 1_000 : undefined;
}

/** Stopped, and its controller has processed it: no more pods are created. */
function isSettled(unit: Unit): boolean {
  const { replicas = 0 } = unit.status ?? {};
  return isStopped(unit) && replicas === 0 && (kindOf(unit) === LEADER_WORKER_SETS ? isIdle(unit) : isObserved(unit));
}

function isObserved({ status, metadata: { generation = 0 } }: Unit): boolean {
  const observed = status?.['observedGeneration'] as number | undefined;
  return (observed ?? Infinity) >= generation;
}

/**
 * The controller of groups does not report which generation it has seen. It reports `Available` for no replicas once it
 * has processed the stop, and only then.
 */
function isIdle({ status }: LeaderWorkerSet): boolean {
  return status?.conditions?.some((one) => one.type === 'Available' && one.status === 'True') ?? false;
}

export interface LiveOptions {
  /**
   * Times after the grace period: when a pod on a lost node no longer counts, and when such a pod of a group is
   * deleted.
   */
  lostAfterMs?: number;
  abandonedAfterMs?: number;
  /** Whether units may be groups. */
  hasGroups?(): boolean;
}

/** The live state of units on the API server, and how to stop one. Nothing here trusts a cache. */
export class LiveUnits {
  /** The time at which a pod was first seen to leave, by this process's own clock: the server's may differ. */
  private readonly leaving = new LRUCache<string, number>({ max: MOST_LEAVING });

  constructor(
    private readonly api: KubeApi,
    private readonly targetLabels: Record<string, string>,
    private readonly options: LiveOptions = {},
  ) {}

  /** Everything that exists of an instance in the namespaces. */
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
   * Stops a unit for good. An apply to a deleted object would have to create one, without the required fields and with
   * another uid. So it creates none.
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

  /** Deletes the mark of a generation, whose pods must have ended. */
  async bury(unit: Unit): Promise<void> {
    const { name, namespace = '', uid } = unit.metadata;
    await this.api.delete(kindOf(unit), namespace, name, { uid });
  }

  /** Whether a pod of it runs or may still run. A pod on a node that is lost for good does not. */
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

  /** Whether a pod of a group only remains because its node cannot end it. No other pod can have its name meanwhile. */
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

  /** A server without the type has no groups. */
  private async groups(namespace: string, labelSelector: string): Promise<Unit[]> {
    try {
      return (await this.api.list<Unit>(LEADER_WORKER_SETS, namespace, { labelSelector })).items;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }
}

/** No such object; another object of its name; too few fields to create one. */
const GONE = new Set([404, 409, 422]);

export function selectorOf(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
