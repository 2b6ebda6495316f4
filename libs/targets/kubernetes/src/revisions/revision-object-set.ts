import { isDeepStrictEqual } from 'node:util';
import { valueAt } from '../api/field-owners.js';
import type { KubeKind } from '../api/kinds.js';
import type { KubeObject } from '../api/objects.js';
import { Reflector, type ReflectorClock } from '../api/reflector.js';
import type { KubeApi } from '../api/requests.js';
import type { RefusedObjects, TriedObject } from '../health/refused-objects.js';
import { LABEL } from '../manifests/unit-labels.js';
import type { UnitWatch } from '../instances/unit-watch.js';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** The pause after trouble, and between two tries of writes that must wait. */
const RETRY_MS = 5_000;
/**
 * The shortest time between two writes of one object, because another client may want it otherwise and write it too.
 */
const PACE_MS = 30_000;
/** The pause doubles while the other client does not stop, up to about an hour. */
const MOST_DOUBLINGS = 7;
const WRITER = { manager: 'slipway', force: true };

export interface RevisionObjectSetOptions {
  labelSelector: string;
  writes: TenantWriteQueue;
  /** Receives null when the watch of the kind works again in the namespace. */
  onTrouble(error: unknown): void;
  refused: RefusedObjects;
  clock?: Partial<ReflectorClock>;
  paceMs?: number;
}

interface DesiredObject {
  object: KubeObject;
  /** The uid of the only unit that needs it. Undefined if it belongs to the revision. */
  unit?: string;
  writtenAt?: number;
  /** Writes that followed each other as soon as they could. */
  inARow?: number;
}

/**
 * Shared objects of one kind in one namespace. A watch observes them, so that no request is necessary while nothing
 * happens. They are written if they differ from their desired state.
 */
export class RevisionObjectSet {
  private readonly there: Reflector<KubeObject>;
  /** By name. */
  private readonly wanted = new Map<string, DesiredObject>();
  /** Names of objects that may differ from their desired state. */
  private readonly due = new Set<string>();
  /** Names of objects whose write failed, or that were written recently. */
  private readonly later = new Set<string>();
  private readonly underWay = new Map<string, Promise<void>>();
  /**
   * Objects that we deleted. They are shown until the watch reports their deletion and, without the right to watch, for
   * good.
   */
  private readonly removed = new WeakSet<KubeObject>();
  private sweeping: Promise<void> = Promise.resolve();
  private pausedUntil = -Infinity;
  private laterAt = -Infinity;

  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'watch' | 'apply' | 'merge' | 'delete' | 'server'>,
    private readonly units: Pick<UnitWatch, 'has'>,
    readonly kind: KubeKind,
    readonly namespace: string,
    private readonly options: RevisionObjectSetOptions,
  ) {
    const { labelSelector, onTrouble, clock } = options;
    const onChange = this.note.bind(this);
    this.there = new Reflector(api, { kind, namespace, labelSelector, keep: compared, onChange, onTrouble, clock });
    this.there.start();
  }

  /** @param unit the uid of the unit that needs it, unless it belongs to a revision */
  want(object: KubeObject, unit?: string): void {
    const { name } = object.metadata;
    this.wanted.set(name, Object.assign(this.wanted.get(name) ?? {}, { object, unit }));
    if (!this.isThere(object)) this.due.add(name);
  }

  wantNothing(): void {
    this.wanted.clear();
  }

  /**
   * Begins to restore objects that differ from their desired state. It waits until the existing objects are known, so a
   * newly started worker does not write what exists.
   */
  attend(): void {
    const now = performance.now();
    if (!this.there.isSynced || now < this.pausedUntil) return;
    // Writes that must wait delay no others.
    if (this.due.size + this.underWay.size === 0 && now >= this.laterAt) {
      for (const name of this.later) this.due.add(name);
      this.later.clear();
      this.laterAt = now + this.retryMs;
    }
    for (const name of this.due) if (!this.underWay.has(name)) this.take(name);
  }

  /** Removes objects that are no longer needed. `whose` is a revision, as in labels, or the uid of a unit. */
  sweep(isNeeded: (whose: string | undefined) => boolean): void {
    for (const [name, { object, unit }] of this.wanted)
      if (!isNeeded(unit ?? object.metadata.labels?.[LABEL.revision])) {
        this.wanted.delete(name);
        this.settle(name);
      }
    if (this.there.isSynced) this.sweeping = this.sweeping.then(() => this.removeUnneeded(isNeeded)).catch(this.tell);
  }

  /** Resolves when no write is in progress. */
  async settled(): Promise<void> {
    await Promise.all([this.sweeping, ...this.underWay.values()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.there.close(), this.settled()]);
  }

  private note(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const { name } = (after ?? before)!.metadata;
    const wanted = this.wanted.get(name);
    if (wanted && !(after && isAs(after, wanted.object))) this.due.add(name);
  }

  private take(name: string): void {
    this.due.delete(name);
    const tenant = this.wanted.get(name)?.object.metadata.labels?.[LABEL.tenant] ?? '';
    const work = this.options.writes.run(tenant, () => this.putRight(name)).finally(() => this.underWay.delete(name));
    this.underWay.set(name, work);
  }

  private async putRight(name: string): Promise<void> {
    const wanted = this.wanted.get(name);
    if (!wanted || !this.isForSomebody(wanted) || this.isThere(wanted.object)) return;
    const now = performance.now();
    // Another write has failed since this one was queued.
    if (now < this.pausedUntil) return void this.due.add(name);
    const { paceMs = PACE_MS } = this.options;
    const { inARow = 0, writtenAt = -Infinity } = wanted;
    const pauseMs = inARow === 0 ? 0 : paceMs * 2 ** (inARow - 1);
    if (now - writtenAt < pauseMs) return void this.later.add(name);
    try {
      this.there.remember(await this.write(wanted.object));
      const isSoon = now - writtenAt < 2 * Math.max(pauseMs, paceMs) + this.retryMs;
      Object.assign(wanted, {
        writtenAt: performance.now(),
        inARow: isSoon ? Math.min(inARow + 1, MOST_DOUBLINGS + 1) : 1,
      });
      this.settle(name);
    } catch (error) {
      const attempt = this.there.get(name) ? 'changed' : 'created';
      this.options.refused.note({ ...this.objectOf(name), owner: ownerOf(wanted.object) }, attempt, error);
      this.later.add(name);
      this.pausedUntil = performance.now() + this.retryMs;
      this.tell(error);
    }
  }

  /** An apply creates the object and sets our fields. It cannot remove a field of another manager, so a patch does. */
  private write(object: KubeObject): Promise<KubeObject> {
    const found = this.there.get(object.metadata.name);
    const additions = found && !this.removed.has(found) ? additionsIn(found, object) : [];
    if (!found || additions.length === 0) return this.api.apply(this.kind, this.namespace, object, WRITER);
    const patch = structuredClone(object);
    patch.metadata.uid = found.metadata.uid;
    for (const path of additions) setNull(patch, path, found);
    return this.api.merge(this.kind, this.namespace, patch);
  }

  private async removeUnneeded(isNeeded: (whose: string | undefined) => boolean): Promise<void> {
    for (const one of [...this.there.values()]) {
      const { labels = {}, name, uid } = one.metadata;
      // Objects that one unit owns are deleted with it.
      const isOfUnit = labels[LABEL.instance] !== undefined;
      if (isOfUnit || this.wanted.has(name) || isNeeded(labels[LABEL.revision]) || this.removed.has(one)) continue;
      try {
        await this.api.delete(this.kind, this.namespace, name, { uid });
      } catch (error) {
        this.options.refused.note({ ...this.objectOf(name), owner: ownerOf(one) }, 'deleted', error);
        throw error;
      }
      this.settle(name);
      this.removed.add(one);
    }
  }

  private settle(name: string): void {
    this.options.refused.settle(this.objectOf(name));
  }

  private objectOf(name: string): Omit<TriedObject, 'owner'> {
    return { kind: this.kind, namespace: this.namespace, name };
  }

  private readonly tell = (error: unknown): void => this.options.onTrouble(error);

  private get retryMs(): number {
    return RETRY_MS / (this.options.clock?.shorterRetries ?? 1);
  }

  private isForSomebody({ unit }: DesiredObject): boolean {
    return unit === undefined || this.units.has(this.namespace, unit);
  }

  private isThere(object: KubeObject): boolean {
    const found = this.there.get(object.metadata.name);
    return found !== undefined && !this.removed.has(found) && isAs(found, object);
  }
}

/** The instance or revision that needs it. */
function ownerOf({ metadata: { labels = {} } }: KubeObject): string {
  return labels[LABEL.instance] ?? labels[LABEL.revision] ?? '';
}

/** The part of an object that is kept, because a target of thousands has as many of each kind. */
function compared({ metadata, spec }: KubeObject): KubeObject {
  const { name, uid, resourceVersion, labels, annotations, ownerReferences, foreign } = metadata;
  return { metadata: { name, uid, resourceVersion, labels, annotations, ownerReferences, foreign }, spec };
}

/** Whether everything wanted is there, and nothing that others have added. Defaults of the server do not matter. */
function isAs(found: KubeObject, wanted: KubeObject): boolean {
  const { labels, annotations, ownerReferences } = wanted.metadata;
  const isComplete = contains(found, { metadata: { labels, annotations, ownerReferences }, spec: wanted.spec });
  return isComplete && additionsIn(found, wanted).length === 0;
}

/**
 * The fields that other clients have set and that we leave to their defaults. A server records some mappings as one
 * field, such as the selector of a Service, so that must be equal.
 */
function additionsIn(found: KubeObject, wanted: KubeObject): string[][] {
  const { foreign = [] } = found.metadata;
  return foreign
    .map(({ path }) => path)
    .filter((path) => {
      const ours = valueAt(wanted, path);
      return ours === undefined || (typeof ours === 'object' && !isDeepStrictEqual(valueAt(found, path), ours));
    });
}

/** Makes a merge patch remove a field, or what it has in addition to ours. Lists of a patch replace those of the object. */
function setNull(patch: object, path: readonly string[], found: unknown): void {
  let at = patch as Record<string, unknown>;
  for (const [index, part] of path.entries()) {
    const isLast = index === path.length - 1 || isItem(path[index + 1]!);
    if (isLast) at[part] = withNulls(at[part], valueAt(found, path.slice(0, index + 1)));
    if (isLast) return;
    at = (at[part] ??= {}) as Record<string, unknown>;
  }
}

function withNulls(ours: unknown, found: unknown): unknown {
  if (ours === undefined) return null;
  if (!isMapping(ours) || !isMapping(found)) return ours;
  const nulls = Object.keys(found).map((key) => [key, null]);
  return { ...(Object.fromEntries(nulls) as object), ...ours };
}

const isMapping = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isItem = (part: string): boolean => part.startsWith('k:') || part.startsWith('v:');

/** Whether everything wanted is there. Additional fields that the server fills in do not matter. */
function contains(found: unknown, wanted: unknown): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (found as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, one]) => contains((found as Record<string, unknown>)[key], one));
}

/** Of the 20 calls that an API server gets at once, because units are started at the same time. */
const AT_ONCE = 8;
const AT_ONCE_OF_A_TENANT = 4;
const MOST_TENANTS = 1_000;

/** Runs several writes at once, in an order in which no tenant waits for a thousand writes of another one. */
export class TenantWriteQueue {
  private readonly all = pLimit(AT_ONCE);
  private readonly tenants = new LRUCache<string, LimitFunction>({ max: MOST_TENANTS });

  run(tenant: string, write: () => Promise<void>): Promise<void> {
    const own = this.tenants.get(tenant) ?? pLimit(AT_ONCE_OF_A_TENANT);
    this.tenants.set(tenant, own);
    return own(() => this.all(write));
  }
}
