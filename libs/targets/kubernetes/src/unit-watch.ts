import type { Observation } from '@slipway/target-driver';
import { DEPLOYMENTS, PODS, type Kind } from './api/kinds.js';
import type { Deployment, KubeObject, Pod } from './api/objects.js';
import { Reflector, type ReflectorClock } from './api/reflector.js';
import type { KubeApi } from './api/requests.js';
import { conditionOf, endOfPod, incarnationOf } from './pod-state-ends.js';
import { instanceIdOf, LABEL } from './unit-labels.js';

type LastExit = NonNullable<Observation['lastExit']>;

/** What the cluster has of one instance: all its generations. */
export interface InstanceObjects {
  units: Deployment[];
  pods: Pod[];
}

interface Tracked {
  units: Map<string, Deployment>;
  pods: Map<string, Pod>;
  /** How the last pod that went had ended, by generation. */
  left: Map<number, LastExit>;
}

export interface UnitWatchOptions {
  /** Objects of this installation and target. */
  labelSelector: string;
  /** Null when a kind is heard again. */
  onTrouble(kind: Kind, namespace: string, error: unknown): void;
  clock?: Partial<ReflectorClock>;
}

/** How often a caller that waits for the first list asks whether it is there. */
const SYNC_LOOK_MS = 20;

/**
 * All units of a target and their pods as the API server told them: one list and one watch for each kind and namespace, however many
 * instances there are. An answer that something is *not* there is none: it may only not have been heard yet.
 */
export class UnitWatch {
  private readonly reflectors = new Map<string, [Reflector<Deployment>, Reflector<Pod>]>();
  private readonly instances = new Map<string, Tracked>();
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
  follow(namespaces: readonly string[]): void {
    for (const namespace of namespaces) {
      if (this.reflectors.has(namespace) || this.isClosed) continue;
      const pair: [Reflector<Deployment>, Reflector<Pod>] = [
        this.reflectorOf<Deployment>(DEPLOYMENTS, namespace, (before, after) => this.noteUnit(before, after)),
        this.reflectorOf<Pod>(PODS, namespace, (before, after) => this.notePod(before, after)),
      ];
      this.reflectors.set(namespace, pair);
      for (const reflector of pair) reflector.start();
    }
  }

  get namespaces(): string[] {
    return [...this.reflectors.keys()];
  }

  /** Everything there has been listed, and what came since was heard. */
  isSyncedIn(namespace: string): boolean {
    return this.reflectors.get(namespace)?.every(({ isSynced }) => isSynced) ?? false;
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
    return this.knownNamespaces.length === this.reflectors.size;
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

  leftOf(instanceId: string, generation: number): LastExit | undefined {
    return this.instances.get(instanceId)?.left.get(generation);
  }

  wasReady(incarnation: string): boolean {
    return this.ready.get(incarnation.split('/')[0]!) === incarnation;
  }

  /** What we wrote is newer than what was heard. */
  remember(unit: Deployment): void {
    this.reflectors.get(unit.metadata.namespace ?? '')?.[0].remember(unit);
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.reflectors.values()].flat().map((reflector) => reflector.close()));
  }

  private reflectorOf<T extends KubeObject>(
    kind: Kind,
    namespace: string,
    onChange: (before: T | undefined, after: T | undefined) => void,
  ): Reflector<T> {
    const { labelSelector, onTrouble, clock } = this.options;
    return new Reflector<T>(this.api, {
      kind,
      namespace,
      labelSelector,
      onChange,
      onTrouble: (error: unknown) => onTrouble(kind, namespace, error),
      ...(clock && { clock }),
    });
  }

  private noteUnit(before: Deployment | undefined, after: Deployment | undefined): void {
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
      if (after && conditionOf(after, 'Ready')?.status === 'True') this.ready.set(key, incarnationOf(after));
      if (after) return;
      tracked.pods.delete(key);
      this.ready.delete(key);
      const hasUnit = [...tracked.units.values()].some((unit) => generationIn(unit) === generationIn(before!));
      if (hasUnit) tracked.left.set(generationIn(before!), endOfPod(before!));
    });
  }

  private note(
    before: KubeObject | undefined,
    after: KubeObject | undefined,
    take: (tracked: Tracked, key: string) => void,
  ): void {
    const object = (after ?? before)!;
    const instance = instanceIdOf(object.metadata);
    if (instance === undefined) return;
    const tracked = this.instances.get(instance) ?? nothing();
    this.instances.set(instance, tracked);
    take(tracked, object.metadata.uid ?? object.metadata.name);
    if (tracked.units.size + tracked.pods.size === 0) this.instances.delete(instance);
    for (const listener of this.listeners) listener(instance);
  }
}

/** Of a unit or one of its pods; 0 where somebody has taken the label away. */
export function generationIn({ metadata }: KubeObject): number {
  const generation = Number(metadata.labels?.[LABEL.generation]);
  return Number.isSafeInteger(generation) ? generation : 0;
}

function nothing(): Tracked {
  return { units: new Map(), pods: new Map(), left: new Map() };
}
