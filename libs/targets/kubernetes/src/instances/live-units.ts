import { LRUCache } from 'lru-cache';
import { DEPLOYMENTS, LEADER_WORKER_SETS, PODS } from '../api/kinds.js';
import { ApiError } from '../api/errors.js';
import type { KubeObject, LeaderWorkerSet, ObjectMeta, Pod } from '../api/objects.js';
import type { ApplyOptions, KubeApi, ListOptions } from '../api/requests.js';
import { conditionOf, disruptionOf, isLeaving } from './pod-ends.js';
import { isStopped, livePods } from './pod-state.js';
import { kindOf, servingTemplateOf, type Unit } from '../manifests/unit-kind.js';
import { CREATED_SPEC } from './unit-drift.js';
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
/** Managers of what is put right. An apply removes what its manager applied before, so each has fields of its own. */
const LABELLER = 'slipway-labels';
const RECORDER = 'slipway-created';
/** The shortest time between two corrections of the same kind of a unit. */
const PUT_RIGHT_MS = 30_000;
const MOST_PUT_RIGHT = 1_000;
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
  /** Names that were searched recently. */
  private readonly searched = new LRUCache<string, true>({ max: MOST_PUT_RIGHT, ttl: PUT_RIGHT_MS });
  /** Corrections that were written recently, by manager and uid of the unit. */
  private readonly written = new LRUCache<string, true>({ max: MOST_PUT_RIGHT, ttl: PUT_RIGHT_MS });

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
          this.options.hasGroups?.() ? this.groups(namespace, { labelSelector }) : [],
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
    return this.applied(unit, namespace, { metadata, spec: { replicas: 0 } }, STOPPER);
  }

  private async applied(
    unit: Unit,
    namespace: string,
    change: KubeObject,
    how: ApplyOptions,
  ): Promise<Unit | undefined> {
    try {
      return await this.api.apply<Unit>(kindOf(unit), namespace, change, how);
    } catch (error) {
      if (error instanceof ApiError && GONE.has(error.status) && !isDenied(error)) return undefined;
      throw error;
    }
  }

  /**
   * The unit of a generation whose labels a client took away, with its labels again. Without them nothing finds the unit,
   * and another one would be started while its pod runs. The name and the labels of its pods prove that it is ours.
   */
  async findUnlabelled(name: string, namespace: string, wanted: UnitLabels): Promise<Unit | undefined> {
    if (wanted.isRepeated && this.searched.has(name)) return undefined;
    if (wanted.isRepeated) this.searched.set(name, true);
    const named = { fieldSelector: `metadata.name=${name}` };
    const { items } = await this.api.list<Unit>(DEPLOYMENTS, namespace, named);
    for (const unit of [...items, ...(this.options.hasGroups?.() ? await this.groups(namespace, named) : [])]) {
      const { labels = {} } = servingTemplateOf(unit)?.metadata ?? {};
      const isOurs = Object.entries(wanted.selector).every(([key, value]) => labels[key] === value);
      if (isOurs && !isLeavingUnit(unit)) return this.restoreLabels(unit, wanted.labels);
    }
    return undefined;
  }

  /** Gives a unit the labels that it lacks. Undefined if it no longer exists. */
  async restoreLabels(unit: Unit, labels: Record<string, string>): Promise<Unit | undefined> {
    if (hasLabels(unit, labels)) return unit;
    return this.putRight(unit, { labels }, LABELLER);
  }

  /** Records what the unit was created as, so that a later process recognizes it when the change is undone. */
  async recordCreatedSpec(unit: Unit, hash: string): Promise<Unit | undefined> {
    return this.putRight(unit, { annotations: { [CREATED_SPEC]: hash } }, RECORDER);
  }

  /** At most now and then, because another client may want it otherwise. */
  private async putRight(unit: Unit, change: Partial<ObjectMeta>, manager: string): Promise<Unit | undefined> {
    const { name, namespace = '', uid = '' } = unit.metadata;
    const key = `${manager}/${uid}`;
    if (this.written.has(key)) return unit;
    this.written.set(key, true);
    return this.applied(unit, namespace, { metadata: { name, uid, ...change } }, { manager, force: true });
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
  private async groups(namespace: string, selector: ListOptions): Promise<Unit[]> {
    try {
      return (await this.api.list<Unit>(LEADER_WORKER_SETS, namespace, selector)).items;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return [];
      throw error;
    }
  }
}

/** Labels that identify a unit: those by which its controller finds its pods, and all of its own. */
export interface UnitLabels {
  selector: Record<string, string>;
  labels: Record<string, string>;
  /** The question is asked again and again, so it is answered only now and then. */
  isRepeated?: boolean;
}

export function hasLabels({ metadata }: Unit, labels: Record<string, string>): boolean {
  return Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
}

const isLeavingUnit = ({ metadata }: Unit): boolean => metadata.deletionTimestamp !== undefined;

/** No such object; another object of its name; too few fields to create one. */
const GONE = new Set([404, 409, 422]);
/** A policy may refuse with the same status. */
const isDenied = ({ words }: ApiError): boolean => /denied (?:the )?request/i.test(words);

export function selectorOf(labels: Record<string, string>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
