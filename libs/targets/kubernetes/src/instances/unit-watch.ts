import type { Observation } from '@slipway/target-driver';
import { ApiError } from '../api/errors.js';
import { DEPLOYMENTS, EVENTS, LEADER_WORKER_SETS, PODS, type KubeKind } from '../api/kinds.js';
import type { Deployment, KubeEvent, KubeObject, LeaderWorkerSet, Pod } from '../api/objects.js';
import { Reflector, type ReflectorClock } from '../api/reflector.js';
import type { KubeApi } from '../api/requests.js';
import { GroupRefusals, REFUSAL_EVENTS, unitsNamedIn } from './pod-groups.js';
import { conditionOf, endInGroup, endOfPod, podIncarnation } from './pod-ends.js';
import { isOfGroup, kindOf, type Unit } from '../manifests/unit-kind.js';
import { instanceIdOf, LABEL } from '../manifests/unit-labels.js';

type LastExit = NonNullable<Observation['lastExit']>;

/** What the cluster has of one instance: all its generations. */
export interface InstanceObjects {
  units: Unit[];
  pods: Pod[];
}

interface TrackedInstance {
  units: Map<string, Unit>;
  pods: Map<string, Pod>;
  /** How the last pod that went had ended, by generation. */
  left: Map<number, LastExit>;
}

export interface UnitWatchOptions {
  /** Objects of this installation and target. */
  labelSelector: string;
  /** Null when a kind is heard again. */
  onTrouble(kind: KubeKind, namespace: string, error: unknown): void;
  clock?: Partial<ReflectorClock>;
}

/** What is watched in one namespace. */
interface NamespaceWatch {
  deployments: Reflector<Deployment>;
  pods: Reflector<Pod>;
  /** Where an engine of the target uses groups: a cluster need not know them otherwise. */
  groups?: Reflector<LeaderWorkerSet>;
  refusals?: Reflector<KubeEvent>;
}

/** How often a caller that waits for the first list asks whether it is there. */
const SYNC_LOOK_MS = 20;

/**
 * All units of a target and their pods, and what is said of pods that groups lack, as the API server told them: one list and one watch for each kind and namespace, however many
 * instances there are. An answer that something is *not* there is none: it may only not have been heard yet.
 */
export class UnitWatch {
  private readonly watched = new Map<string, NamespaceWatch>();
  /** Namespaces whose API server knows no LeaderWorkerSets: there are none. */
  private readonly groupless = new Set<string>();
  private readonly refusals = new GroupRefusals();
  private readonly instances = new Map<string, TrackedInstance>();
  private readonly known = new Set<string>();
  /** Lives of engines that were seen ready, by pod. */
  private readonly ready = new Map<string, string>();
  private readonly listeners: ((instanceId: string) => void)[] = [];
  private isClosed = false;

  constructor(
    private readonly api: KubeApi,
    private readonly options: UnitWatchOptions,
  ) {}

  /** Begins to watch the namespaces that it does not watch yet. What runs in others is watched on. */
  follow(namespaces: readonly string[], { groups = false } = {}): void {
    if (this.isClosed) return;
    for (const namespace of namespaces) if (!this.watched.has(namespace)) this.watch(namespace);
    if (groups || this.followsGroups) for (const namespace of this.namespaces) this.watchGroups(namespace);
  }

  /** Once it does, it does so for good: groups may be left when the last engine that makes them is taken out of the file. */
  get followsGroups(): boolean {
    return [...this.watched.values()].some(({ groups }) => groups !== undefined);
  }

  get namespaces(): string[] {
    return [...this.watched.keys()];
  }

  /** Everything there has been listed, and what came since was heard. */
  isSyncedIn(namespace: string): boolean {
    const { deployments, pods, groups } = this.watched.get(namespace) ?? {};
    const isWithGroups = groups === undefined || groups.isSynced || this.groupless.has(namespace);
    return deployments?.isSynced === true && pods?.isSynced === true && isWithGroups;
  }

  /** Everything there has been listed once. From then on it shows what the server said last, also while it has to list anew. */
  isKnownIn(namespace: string): boolean {
    if (this.isSyncedIn(namespace)) this.known.add(namespace);
    return this.known.has(namespace);
  }

  get knownNamespaces(): string[] {
    return this.namespaces.filter((namespace) => this.isKnownIn(namespace));
  }

  get isKnown(): boolean {
    return this.knownNamespaces.length === this.watched.size;
  }

  /** Waits for first lists, of all namespaces or as `is` says. @returns whether they are there */
  async listed(withinMs: number, is = () => this.isKnown): Promise<boolean> {
    const end = performance.now() + withinMs;
    while (!is() && !this.isClosed && performance.now() < end)
      await new Promise((done) => setTimeout(done, SYNC_LOOK_MS));
    return is();
  }

  onChange(listener: (instanceId: string) => void): void {
    this.listeners.push(listener);
  }

  of(instanceId: string): InstanceObjects {
    const { units, pods } = this.instances.get(instanceId) ?? nothing();
    return { units: [...units.values()], pods: [...pods.values()] };
  }

  *all(): Generator<[instanceId: string, objects: InstanceObjects]> {
    for (const instanceId of this.instances.keys()) yield [instanceId, this.of(instanceId)];
  }

  /** Whether a unit of this uid is seen there. */
  has(namespace: string, uid: string): boolean {
    const { deployments, groups } = this.watched.get(namespace) ?? {};
    return (deployments?.byUid(uid) ?? groups?.byUid(uid)) !== undefined;
  }

  leftOf(instanceId: string, generation: number): LastExit | undefined {
    return this.instances.get(instanceId)?.left.get(generation);
  }

  wasReady(incarnation: string): boolean {
    return this.ready.get(incarnation.split('/')[0]!) === incarnation;
  }

  /** What we wrote is newer than what was heard. */
  remember(unit: Unit): void {
    const { deployments, groups } = this.watched.get(unit.metadata.namespace ?? '') ?? {};
    const reflector = kindOf(unit) === LEADER_WORKER_SETS ? groups : deployments;
    (reflector as Reflector<Unit> | undefined)?.remember(unit);
  }

  /** Why pods of a group could not be made. */
  refused(unit: Unit, pods: readonly Pod[]): string | undefined {
    return this.refusals.of(unit, pods);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const all = [...this.watched.values()].flatMap((one) => Object.values(one) as Reflector<KubeObject>[]);
    await Promise.all(all.map((reflector) => reflector.close()));
  }

  private watch(namespace: string): void {
    const deployments = this.reflectorOf<Deployment>(DEPLOYMENTS, namespace, (before, after) =>
      this.noteUnit(before, after),
    );
    const pods = this.reflectorOf<Pod>(PODS, namespace, (before, after) => this.notePod(before, after));
    this.watched.set(namespace, { deployments, pods });
    for (const reflector of [deployments, pods]) reflector.start();
  }

  private watchGroups(namespace: string): void {
    const watched = this.watched.get(namespace);
    if (!watched || watched.groups) return;
    watched.groups = this.reflectorOf<LeaderWorkerSet>(LEADER_WORKER_SETS, namespace, (before, after) =>
      this.noteUnit(before, after),
    );
    watched.refusals = this.reflectorOf<KubeEvent>(EVENTS, namespace, (before, after) => this.noteEvent(before, after));
    for (const reflector of [watched.groups, watched.refusals]) reflector.start();
  }

  private reflectorOf<T extends KubeObject>(
    kind: KubeKind,
    namespace: string,
    onChange: (before: T | undefined, after: T | undefined) => void,
  ): Reflector<T> {
    const { labelSelector, onTrouble, clock } = this.options;
    return new Reflector<T>(this.api, {
      kind,
      namespace,
      // Events have none of our labels.
      ...(kind === EVENTS ? { fieldSelector: REFUSAL_EVENTS } : { labelSelector }),
      onChange,
      onTrouble: (error: unknown) => {
        if (kind === LEADER_WORKER_SETS) this.noteGroupless(namespace, error);
        onTrouble(kind, namespace, error);
      },
      ...(clock && { clock }),
    });
  }

  /** Without the type there can be no group, so that nobody has to wait until it is known which there are. */
  private noteGroupless(namespace: string, error: unknown): void {
    if (error instanceof ApiError && error.status === 404) this.groupless.add(namespace);
    else this.groupless.delete(namespace);
  }

  private noteEvent(before: KubeEvent | undefined, after: KubeEvent | undefined): void {
    this.refusals.note(before, after);
    if (!after) return;
    const { groups } = this.watched.get(after.metadata.namespace ?? '') ?? {};
    for (const name of unitsNamedIn(after)) {
      const unit = groups?.get(name);
      const instance = unit && instanceIdOf(unit.metadata);
      if (instance !== undefined) this.tell(instance);
    }
  }

  private noteUnit(before: Unit | undefined, after: Unit | undefined): void {
    this.note(before, after, (tracked, key) => {
      if (after) return tracked.units.set(key, after);
      // A pod that comes after its unit has gone is another unit's.
      tracked.left.delete(generationIn(before!));
      return tracked.units.delete(key);
    });
  }

  private notePod(before: Pod | undefined, after: Pod | undefined): void {
    this.note(before, after, (tracked, key) => {
      if (after) tracked.pods.set(key, after);
      if (after && conditionOf(after, 'Ready')?.status === 'True') this.ready.set(key, podIncarnation(after));
      if (after) return;
      tracked.pods.delete(key);
      this.ready.delete(key);
      const hasUnit = [...tracked.units.values()].some((unit) => generationIn(unit) === generationIn(before!));
      if (hasUnit) tracked.left.set(generationIn(before!), endOf(before!, tracked.left.get(generationIn(before!))));
    });
  }

  private note(
    before: KubeObject | undefined,
    after: KubeObject | undefined,
    take: (tracked: TrackedInstance, key: string) => void,
  ): void {
    const object = (after ?? before)!;
    const instance = instanceIdOf(object.metadata);
    if (instance === undefined) return;
    const tracked = this.instances.get(instance) ?? nothing();
    this.instances.set(instance, tracked);
    take(tracked, object.metadata.uid ?? object.metadata.name);
    if (tracked.units.size + tracked.pods.size === 0) this.instances.delete(instance);
    this.tell(instance);
  }

  private tell(instance: string): void {
    for (const listener of this.listeners) listener(instance);
  }
}

/** Of a unit or one of its pods; 0 where somebody has taken the label away. */
export function generationIn({ metadata }: KubeObject): number {
  const generation = Number(metadata.labels?.[LABEL.generation]);
  return Number.isSafeInteger(generation) ? generation : 0;
}

function endOf(pod: Pod, known: LastExit | undefined): LastExit {
  return isOfGroup(pod) ? endInGroup(pod, known) : endOfPod(pod);
}

function nothing(): TrackedInstance {
  return { units: new Map(), pods: new Map(), left: new Map() };
}
