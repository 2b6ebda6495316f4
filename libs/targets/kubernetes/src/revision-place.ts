import type { Kind } from './api/kinds.js';
import type { KubeObject } from './api/objects.js';
import { Reflector, type ReflectorClock } from './api/reflector.js';
import type { KubeApi } from './api/requests.js';
import { LABEL } from './unit-labels.js';
import type { UnitWatch } from './unit-watch.js';

/** How long a first list is waited for, and when what failed is tried again. */
const SYNC_MS = 5_000;
const RETRY_MS = 5_000;
/** Who wants an object otherwise than we do, and writes as well, is answered no more often. */
const PACE_MS = 30_000;
const WRITER = { manager: 'slipway', force: true };

export interface RevisionPlaceOptions {
  labelSelector: string;
  /** Null when the place is heard again. */
  onTrouble(error: unknown): void;
  clock?: Partial<ReflectorClock>;
  paceMs?: number;
}

interface Wanted {
  object: KubeObject;
  /** The uid of the only unit that wants it; else it is its revision's. */
  unit?: string;
  writtenAt?: number;
}

/**
 * What revisions share of one kind in one namespace: seen by a watch, so that nothing is asked for while nothing happens, and written where it is not
 * as it should be.
 */
export class RevisionPlace {
  private readonly there: Reflector<KubeObject>;
  /** By name. */
  private readonly wanted = new Map<string, Wanted>();
  /** Names of what may not be as it should. */
  private readonly due = new Set<string>();
  /** What we took away is shown until the watch has come so far; without the right to watch, for ever. */
  private readonly removed = new WeakSet<KubeObject>();
  private work: Promise<void> = Promise.resolve();
  private nextAt = -Infinity;

  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'watch' | 'apply' | 'delete' | 'server'>,
    private readonly units: Pick<UnitWatch, 'has' | 'listed'>,
    readonly kind: Kind,
    readonly namespace: string,
    private readonly options: RevisionPlaceOptions,
  ) {
    const { labelSelector, onTrouble, clock } = options;
    const onChange = this.note.bind(this);
    this.there = new Reflector(api, { kind, namespace, labelSelector, keep: compared, onChange, onTrouble, clock });
    this.there.start();
  }

  /** @param unit the uid of the unit that it is for, where it is no revision's */
  want(object: KubeObject, unit?: string): void {
    const { name } = object.metadata;
    this.wanted.set(name, { ...this.wanted.get(name), object, unit });
    if (!this.isThere(object)) this.due.add(name);
  }

  wantNothing(): void {
    this.wanted.clear();
  }

  /** Puts right what is not as it should be, if anything. */
  attend(): void {
    if (this.due.size === 0 || performance.now() < this.nextAt) return;
    this.nextAt = Infinity;
    this.begin(async () => {
      const again = RETRY_MS / (this.options.clock?.shorterRetries ?? 1);
      const isComplete = await this.complete().finally(() => (this.nextAt = performance.now() + again));
      if (isComplete) this.nextAt = -Infinity;
    });
  }

  /** What nobody needs goes. `whose` is a revision, as labels have it, or the uid of a unit. */
  sweep(isNeeded: (whose: string | undefined) => boolean): void {
    for (const [name, { object, unit }] of this.wanted)
      if (!isNeeded(unit ?? object.metadata.labels?.[LABEL.revision])) this.wanted.delete(name);
    if (this.there.isSynced) this.begin(() => this.removeUnneeded(isNeeded));
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<void> {
    await this.work;
  }

  async close(): Promise<void> {
    await Promise.all([this.there.close(), this.settled()]);
  }

  private note(before: KubeObject | undefined, after: KubeObject | undefined): void {
    const { name } = (after ?? before)!.metadata;
    const wanted = this.wanted.get(name);
    if (wanted && !(after && holds(after.spec, wanted.object.spec))) this.due.add(name);
  }

  private begin(work: () => Promise<void>): void {
    this.work = this.work.then(work).catch((error: unknown) => this.options.onTrouble(error));
  }

  /** What is there as it should be stays so: a worker that begins anew writes nothing. @returns whether nothing is left to do */
  private async complete(): Promise<boolean> {
    if (!(await this.units.listed(SYNC_MS, () => this.there.isSynced))) return false;
    // What becomes due meanwhile is among them.
    for (const name of this.due) await this.putRight(name);
    return this.due.size === 0;
  }

  private async putRight(name: string): Promise<void> {
    const wanted = this.wanted.get(name);
    const { paceMs = PACE_MS } = this.options;
    const isMissing = wanted && this.isForSomebody(wanted) && !this.isThere(wanted.object);
    if (isMissing && performance.now() - (wanted.writtenAt ?? -Infinity) < paceMs) return;
    this.due.delete(name);
    if (!isMissing) return;
    try {
      this.there.remember(await this.api.apply(this.kind, this.namespace, wanted.object, WRITER));
      wanted.writtenAt = performance.now();
    } catch (error) {
      this.due.add(name);
      throw error;
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

  private isForSomebody({ unit }: Wanted): boolean {
    return unit === undefined || this.units.has(this.namespace, unit);
  }

  private isThere({ metadata, spec }: KubeObject): boolean {
    const found = this.there.get(metadata.name);
    return found !== undefined && !this.removed.has(found) && holds(found.spec, spec);
  }
}

/** What is kept of an object: a target of thousands has as many of each kind. */
function compared({ metadata: { name, uid, resourceVersion, labels }, spec }: KubeObject): KubeObject {
  return { metadata: { name, uid, resourceVersion, labels }, spec };
}

/** Whether all that is wanted is there; what a server fills in is its own. */
function holds(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted;
  if (typeof found !== 'object' || found === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (found as unknown[]).length) return false;
  return Object.entries(wanted).every(([key, one]) => holds((found as Record<string, unknown>)[key], one));
}
