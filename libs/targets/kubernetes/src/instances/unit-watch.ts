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
import { generationInName } from '../manifests/unit-names.js';
import { StrayPods } from './stray-pods.js';
import { specHash } from './unit-drift.js';

type LastExit = NonNullable<Observation['lastExit']>;

/** The objects of one instance in the cluster, of all its generations. */
export interface InstanceObjects {
  units: Unit[];
  pods: Pod[];
}

interface TrackedInstance {
  units: Map<string, Unit>;
  pods: Map<string, Pod>;
  /** How the last deleted pod ended, by generation. */
  left: Map<number, LastExit>;
  /** Hashes of specs that were seen before any change, by the uid of the unit. */
  created: Map<string, string>;
}

export interface UnitWatchOptions {
  /**
   * Selects objects of this installation. Those of other targets are only listed, so that unknown units are found without a
   * request.
   */
  labelSelector: string;
  /** The label of the target whose instances are tracked. */
  target: string;
  /** Receives null when the watch of a kind works again. */
  onTrouble(kind: KubeKind, namespace: string, error: unknown): void;
  clock?: Partial<ReflectorClock>;
}

/** The watches of one namespace. */
interface NamespaceWatch {
  deployments: Reflector<Deployment>;
  pods: Reflector<Pod>;
  /** Only if an engine of the target uses groups, because the cluster need not have the type otherwise. */
  groups?: Reflector<LeaderWorkerSet>;
  refusals?: Reflector<KubeEvent>;
}

/** How often a caller that waits for the first list checks whether it is complete. */
const SYNC_LOOK_MS = 20;

/**
 * All units of a target, their pods, and the events about missing pods of groups, as the API server reports them. There
 * is one list and one watch for each kind and namespace, for any number of instances. The absence of an object here
 * proves nothing: the watch may lag.
 */
export class UnitWatch {
  private readonly watched = new Map<string, NamespaceWatch>();
  /** Namespaces whose API server has no LeaderWorkerSets, so no groups exist. */
  private readonly groupless = new Set<string>();
  private readonly refusals = new GroupRefusals();
  private readonly instances = new Map<string, TrackedInstance>();
  private readonly known = new Set<string>();
  /** Lives of engines that were observed as ready, by pod. */
  private readonly ready = new Map<string, string>();
  private readonly listeners: ((instanceId: string) => void)[] = [];
  private readonly strays: StrayPods;
  /** Watches that were ended. */
  private readonly ending = new Set<Promise<void>>();
  private isClosed = false;

  constructor(
    private readonly api: KubeApi,
    private readonly options: UnitWatchOptions,
  ) {
    const { labelSelector, clock } = options;
    this.strays = new StrayPods(api, { labelSelector, clock, tell: (instance) => this.tell(instance) });
  }

  /**
   * Begins to watch the namespaces that are not watched yet. Other namespaces continue to be watched, because units may
   * run there.
   */
  follow(namespaces: readonly string[], { groups = false } = {}): void {
    if (this.isClosed) return;
    for (const namespace of namespaces) if (!this.watched.has(namespace)) this.watch(namespace);
    if (groups || this.followsGroups) for (const namespace of this.namespaces) this.watchGroups(namespace);
  }

  /**
   * Once groups are watched, they always are: groups may exist after the last engine that makes them was removed from
   * the file.
   */
  get followsGroups(): boolean {
    return [...this.watched.values()].some(({ groups }) => groups !== undefined);
  }

  get namespaces(): string[] {
    return [...this.watched.keys()];
  }

  /** The lists of the namespace are complete, and the watches have reported everything since. */
  isSyncedIn(namespace: string): boolean {
    const { deployments, pods, groups } = this.watched.get(namespace) ?? {};
    const isWithGroups = groups === undefined || groups.isSynced || this.groupless.has(namespace);
    return deployments?.isSynced === true && pods?.isSynced === true && isWithGroups;
  }

  /**
   * The lists of the namespace were complete once. From then on it shows the server's last state, even while it lists
   * again.
   */
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

  /**
   * Waits for the first lists of all namespaces, or until `is` returns true.
   * @returns whether they are complete
   */
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

  /** The units and pods of other targets, and those of which the labels lead to no instance. */
  *others(): Generator<Unit | Pod> {
    for (const { deployments, pods, groups } of this.watched.values())
      for (const reflector of [deployments, groups, pods])
        for (const object of (reflector?.values() ?? []) as Iterable<Unit | Pod>)
          if (!this.isOwn(object) || instanceIdOf(object.metadata) === undefined) yield object;
  }

  /** Whether no unit and no pod of the target is known in the namespace. */
  isEmptyIn(namespace: string): boolean {
    const { deployments, pods, groups } = this.watched.get(namespace) ?? {};
    const all = [deployments, groups, pods].flatMap((reflector) => [...((reflector?.values() ?? []) as KubeObject[])]);
    return !all.some((object) => this.isOwn(object));
  }

  /** Ends the watches of a namespace in which nothing is left. */
  unfollow(namespace: string): void {
    const watched = this.watched.get(namespace);
    if (!watched) return;
    this.watched.delete(namespace);
    this.known.delete(namespace);
    this.groupless.delete(namespace);
    for (const reflector of Object.values(watched) as Reflector<KubeObject>[]) this.ending.add(reflector.close());
  }

  /** Whether a unit of this uid is known in the namespace. */
  has(namespace: string, uid: string): boolean {
    const { deployments, groups } = this.watched.get(namespace) ?? {};
    return (deployments?.byUid(uid) ?? groups?.byUid(uid)) !== undefined;
  }

  leftOf(instanceId: string, generation: number): LastExit | undefined {
    return this.instances.get(instanceId)?.left.get(generation);
  }

  /** The hash of the spec of a unit before others changed it; undefined if this process has not seen it then. */
  createdSpecOf(instanceId: string, { metadata: { uid = '' } }: Unit): string | undefined {
    return this.instances.get(instanceId)?.created.get(uid);
  }

  /** Pods of the instance's units that lost our labels. */
  straysOf(instanceId: string): Pod[] {
    return this.strays.of(instanceId);
  }

  wasReady(incarnation: string): boolean {
    return this.ready.get(incarnation.split('/')[0]!) === incarnation;
  }

  /** Our own write is newer than what the watch has reported. */
  remember(unit: Unit): void {
    const { deployments, groups } = this.watched.get(unit.metadata.namespace ?? '') ?? {};
    const reflector = kindOf(unit) === LEADER_WORKER_SETS ? groups : deployments;
    (reflector as Reflector<Unit> | undefined)?.remember(unit);
  }

  /** Why pods of a group could not be created. */
  refused(unit: Unit, pods: readonly Pod[]): string | undefined {
    return this.refusals.of(unit, pods);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.strays.close();
    const all = [...this.watched.values()].flatMap((one) => Object.values(one) as Reflector<KubeObject>[]);
    await Promise.all([...all.map((reflector) => reflector.close()), ...this.ending]);
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
      // Events do not have our labels.
      ...(kind === EVENTS ? { fieldSelector: REFUSAL_EVENTS } : { labelSelector }),
      onChange,
      onTrouble: (error: unknown) => {
        if (kind === LEADER_WORKER_SETS) this.noteGroupless(namespace, error);
        onTrouble(kind, namespace, error);
      },
      ...(clock && { clock }),
    });
  }

  /** Without the type there can be no group, so callers need not wait for the list of groups. */
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

  private isOwn({ metadata }: KubeObject): boolean {
    return metadata.labels?.[LABEL.target] === this.options.target;
  }

  /** An object that lost the label of the target is no longer one of it. */
  private own<T extends KubeObject>(object: T | undefined): T | undefined {
    return object && this.isOwn(object) ? object : undefined;
  }

  private noteUnit(seen: Unit | undefined, next: Unit | undefined): void {
    const [before, after] = [this.own(seen), this.own(next)];
    if (isOfAnother(before, after)) {
      this.noteUnit(before, undefined);
      return this.noteUnit(undefined, after);
    }
    this.note(before, after, (tracked, key) => {
      const { generation = 1 } = after?.metadata ?? {};
      if (!after) tracked.created.delete(key);
      else if (generation <= 1 && !tracked.created.has(key)) tracked.created.set(key, specHash(after));
      if (after) return tracked.units.set(key, after);
      // A pod that is created after its unit was deleted belongs to another unit.
      tracked.left.delete(generationIn(before!));
      return tracked.units.delete(key);
    });
  }

  private notePod(seen: Pod | undefined, next: Pod | undefined): void {
    const [before, after] = [this.own(seen), this.own(next)];
    if (isOfAnother(before, after)) {
      this.notePod(before, undefined);
      return this.notePod(undefined, after);
    }
    const instance = before && instanceIdOf(before.metadata);
    if (before && !after && instance !== undefined) this.strays.suspect(before, instance);
    this.note(before, after, (tracked, key) => {
      if (after) tracked.pods.set(key, after);
      // Without the label of its generation, it is no longer a pod of its unit.
      if (before && after && generationIn(before) !== generationIn(after))
        tracked.left.set(generationIn(before), endOf(before, tracked.left.get(generationIn(before))));
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
    const object = after ?? before;
    const instance = object && instanceIdOf(object.metadata);
    if (!object || instance === undefined) return;
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

/** The generation of a unit, whose name no client can change, or of one of its pods; 0 if that lost its label. */
export function generationIn({ metadata }: KubeObject): number {
  const generation = generationInName(metadata.name) ?? Number(metadata.labels?.[LABEL.generation]);
  return Number.isSafeInteger(generation) ? generation : 0;
}

function endOf(pod: Pod, known: LastExit | undefined): LastExit {
  return isOfGroup(pod) ? endInGroup(pod, known) : endOfPod(pod);
}

function nothing(): TrackedInstance {
  return { units: new Map(), pods: new Map(), left: new Map(), created: new Map() };
}

/** Whether a client gave the object the label of another instance, or took it away. */
function isOfAnother(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  return before !== undefined && after !== undefined && instanceIdOf(before.metadata) !== instanceIdOf(after.metadata);
}
