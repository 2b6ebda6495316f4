import type { KubeKind } from '../api/kinds.js';
import type { KubeObject } from '../api/objects.js';
import { Reflector, type ReflectorClock } from '../api/reflector.js';
import type { KubeApi } from '../api/requests.js';
import { LABEL } from '../manifests/unit-labels.js';
import type { UnitWatch } from '../instances/unit-watch.js';
import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** After trouble, and until what has to wait is looked at again. */
const RETRY_MS = 5_000;
/** Who wants an object otherwise than we do, and writes as well, is answered no more often. */
const PACE_MS = 30_000;
const WRITER = { manager: 'slipway', force: true };

export interface RevisionObjectSetOptions {
  labelSelector: string;
  writes: TenantWriteQueue;
  /** Null when the kind is heard again in the namespace. */
  onTrouble(error: unknown): void;
  clock?: Partial<ReflectorClock>;
  paceMs?: number;
}

interface DesiredObject {
  object: KubeObject;
  /** The uid of the only unit that wants it; else it is its revision's. */
  unit?: string;
  writtenAt?: number;
}

/**
 * What revisions share of one kind in one namespace: seen by a watch, so that nothing is asked for while nothing happens, and written where it is not
 * as it should be.
 */
export class RevisionObjectSet {
  private readonly there: Reflector<KubeObject>;
  /** By name. */
  private readonly wanted = new Map<string, DesiredObject>();
  /** Names of what may not be as it should. */
  private readonly due = new Set<string>();
  /** Names of what met with trouble, or was written not long ago. */
  private readonly later = new Set<string>();
  private readonly underWay = new Map<string, Promise<void>>();
  /** What we took away is shown until the watch has come so far; without the right to watch, for ever. */
  private readonly removed = new WeakSet<KubeObject>();
  private sweeping: Promise<void> = Promise.resolve();
  private pausedUntil = -Infinity;
  private laterAt = -Infinity;

  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'watch' | 'apply' | 'delete' | 'server'>,
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

  /** @param unit the uid of the unit that it is for, where it is no revision's */
  want(object: KubeObject, unit?: string): void {
    const { name } = object.metadata;
    this.wanted.set(name, Object.assign(this.wanted.get(name) ?? {}, { object, unit }));
    if (!this.isThere(object)) this.due.add(name);
  }

  wantNothing(): void {
    this.wanted.clear();
  }

  /**
   * Begins to put right what is not as it should be, if anything, once it is known what there is: a worker that begins anew writes nothing
   * that is there.
   */
  attend(): void {
    const now = performance.now();
    if (!this.there.isSynced || now < this.pausedUntil) return;
    // What has to wait holds up nothing else.
    if (this.due.size + this.underWay.size === 0 && now >= this.laterAt) {
      for (const name of this.later) this.due.add(name);
      this.later.clear();
      this.laterAt = now + this.retryMs;
    }
    for (const name of this.due) if (!this.underWay.has(name)) this.take(name);
  }

  /** What nobody needs goes. `whose` is a revision, as labels have it, or the uid of a unit. */
  sweep(isNeeded: (whose: string | undefined) => boolean): void {
    for (const [name, { object, unit }] of this.wanted)
      if (!isNeeded(unit ?? object.metadata.labels?.[LABEL.revision])) this.wanted.delete(name);
    if (this.there.isSynced) this.sweeping = this.sweeping.then(() => this.removeUnneeded(isNeeded)).catch(this.tell);
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await Promise.all([this.sweeping, ...this.underWay.values()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.there.close(), this.settled()]);
  }

  private note(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const { name } = (after ?? before)!.metadata;
    const wanted = this.wanted.get(name);
    if (wanted && !(after && contains(after.spec, wanted.object.spec))) this.due.add(name);
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
    const { paceMs = PACE_MS } = this.options;
    const now = performance.now();
    // Another one has met with trouble since this one was taken up.
    if (now < this.pausedUntil) return void this.due.add(name);
    if (now - (wanted.writtenAt ?? -Infinity) < paceMs) return void this.later.add(name);
    try {
      this.there.remember(await this.api.apply(this.kind, this.namespace, wanted.object, WRITER));
      wanted.writtenAt = performance.now();
    } catch (error) {
      this.later.add(name);
      this.pausedUntil = performance.now() + this.retryMs;
      this.tell(error);
    }
  }

  private async removeUnneeded(isNeeded: (whose: string | undefined) => boolean): Promise<void> {
    for (const one of [...this.there.values()]) {
      const { labels = {}, name, uid } = one.metadata;
      // What one unit owns goes with it.
      const isOfUnit = labels[LABEL.instance] !== undefined;
      if (isOfUnit || this.wanted.has(name) || isNeeded(labels[LABEL.revision]) || this.removed.has(one)) continue;
      await this.api.delete(this.kind, this.namespace, name, { uid });
      this.removed.add(one);
    }
  }

  private readonly tell = (error: unknown): void => this.options.onTrouble(error);

  private get retryMs(): number {
    return RETRY_MS / (this.options.clock?.shorterRetries ?? 1);
  }

  private isForSomebody({ unit }: DesiredObject): boolean {
    return unit === undefined || this.units.has(this.namespace, unit);
  }

  private isThere({ metadata, spec }: KubeObject): boolean {
    const found = this.there.get(metadata.name);
    return found !== undefined && !this.removed.has(found) && contains(found.spec, spec);
  }
}

/** What is kept of an object: a target of thousands has as many of each kind. */
function compared({ metadata: { name, uid, resourceVersion, labels }, spec }: KubeObject): KubeObject {
  return { metadata: { name, uid, resourceVersion, labels }, spec };
}

/** Whether all that is wanted is there; what a server fills in is its own. */
function contains(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (found as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, one]) => contains((found as Record<string, unknown>)[key], one));
}

/** Of the 20 calls that an API server gets at once: units are begun beside them. */
const AT_ONCE = 8;
const AT_ONCE_OF_A_TENANT = 4;
const MOST_TENANTS = 1_000;

/** Several writes at once, in an order in which no tenant waits for a thousand of another one. */
export class TenantWriteQueue {
  private readonly all = pLimit(AT_ONCE);
  private readonly tenants = new LRUCache<string, LimitFunction>({ max: MOST_TENANTS });

  run(tenant: string, write: () => Promise<void>): Promise<void> {
    const own = this.tenants.get(tenant) ?? pLimit(AT_ONCE_OF_A_TENANT);
    this.tenants.set(tenant, own);
    return own(() => this.all(write));
  }
}
