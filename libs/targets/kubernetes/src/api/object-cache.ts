import type { KubeObject } from './objects.js';

/**
 * If `before` is undefined, the object is new. If `after` is undefined, it is deleted, and `before` is its last state.
 */
export type ObjectListener<T> = (before: T | undefined, after: T | undefined) => void;

/** Far more than one of our namespaces can hold. A server that sends more is broken. */
const MAX_OBJECTS = 100_000;

/** The server has more objects than a cache holds. */
export class CacheFullError extends Error {
  constructor() {
    super(
      `the cluster lists more than ${MAX_OBJECTS} objects in the namespace of the target; give the target a namespace of its own`,
    );
    this.name = 'CacheFullError';
  }
}

/**
 * Whether one version is older than another. Versions of one kind are growing decimal numbers in every API server;
 * Kubernetes guarantees this since 1.35. The result is false if one of them is not a number.
 */
export function isOlder(version: string | undefined, than: string | undefined): boolean {
  if (!isNumber(version) || !isNumber(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}

const isNumber = (version: string | undefined): version is string => /^[1-9]\d*$/.test(version ?? '');

/**
 * The objects of a list and of the watch that continues from it, by uid. The cache shows our own writes at once, and
 * keeps them until the watch has reached their version (k8s#129795): an older event does not revert them. Listeners
 * receive each change of what the cache shows.
 */
export class ObjectCache<T extends KubeObject> {
  /** The version that the watch has reached. */
  version?: string;
  private readonly shown = new Map<string, T>();
  private readonly uids = new Map<string, string>();
  /** Uids of objects that are shown as we wrote them, with the version of the write. The watch has not reached it. */
  private readonly ahead = new Map<string, string>();

  constructor(private readonly onChange: ObjectListener<T>) {}

  get size(): number {
    return this.shown.size;
  }

  get(name: string): T | undefined {
    return this.shown.get(this.uids.get(name) ?? '');
  }

  byUid(uid: string): T | undefined {
    return this.shown.get(uid);
  }

  /**
   * Whether the server reported the object without a write of ours. Such a write does not prove that it is still the
   * same server.
   */
  wasTold(uid: string | undefined): boolean {
    return uid !== undefined && this.shown.has(uid) && !this.ahead.has(uid);
  }

  values(): Iterable<T> {
    return this.shown.values();
  }

  /** Our writes that the watch has not shown so far. Take them before a list begins, for `replace`. */
  written(): ReadonlyMap<string, string> {
    return new Map(this.ahead);
  }

  /**
   * Replaces everything by a list at `version`. An object that is missing in it was deleted, whether it was shown or
   * not: a consistent list includes every write that was answered before the list began.
   */
  replace(items: readonly T[], version: string, writtenBefore: ReadonlyMap<string, string>): void {
    this.version = version;
    for (const [uid, written] of writtenBefore) if (this.ahead.get(uid) === written) this.ahead.delete(uid);
    const listed = new Set(items.map(uidOf));
    for (const [uid, object] of [...this.shown]) if (!listed.has(uid) && !this.ahead.has(uid)) this.hide(object);
    for (const item of items) this.show(item);
    this.settle(version);
  }

  /** Applies one event of the watch. An event that is not newer than the watch itself was sent before. */
  take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const { resourceVersion = '' } = object.metadata;
    if (this.version !== undefined && isNumber(resourceVersion) && !isOlder(this.version, resourceVersion)) return;
    this.version = resourceVersion;
    // We wrote the object later, so it still existed then.
    const isPast = isOlder(resourceVersion, this.ahead.get(uidOf(object)));
    const known = this.shown.get(uidOf(object));
    if (type !== 'DELETED') this.show(object);
    else if (known && !isPast) this.hide(known, object);
    this.settle(resourceVersion);
  }

  /** A bookmark: the watch has reported everything up to `version`. */
  advance(version: string): void {
    if (isOlder(version, this.version)) return;
    this.version = version;
    this.settle(version);
  }

  /** The server's answer to a write of ours. */
  remember(object: T): void {
    const { resourceVersion: version = '', uid } = object.metadata;
    if (uid === undefined) return;
    // The watch has reached this version, and shows the object or has shown its end.
    if (this.version !== undefined && !isOlder(this.version, version)) return;
    if (isOlder(version, this.ahead.get(uid))) return;
    if (this.shown.size >= MAX_OBJECTS) return;
    this.ahead.set(uid, version);
    this.put(object);
  }

  private show(object: T): void {
    // Older than our write: the watch will reach our write.
    if (isOlder(object.metadata.resourceVersion, this.ahead.get(uidOf(object)))) return;
    if (this.shown.size >= MAX_OBJECTS && !this.shown.has(uidOf(object))) throw new CacheFullError();
    this.ahead.delete(uidOf(object));
    this.put(object);
  }

  private put(object: T): void {
    const uid = uidOf(object);
    const { name, resourceVersion } = object.metadata;
    const namesake = this.get(name);
    if (namesake && uidOf(namesake) !== uid) this.hide(namesake);
    const before = this.shown.get(uid);
    if (before && before.metadata.resourceVersion === resourceVersion) return;
    this.shown.set(uid, object);
    this.uids.set(name, uid);
    this.onChange(before, object);
  }

  /** @param last the object at its end, if known */
  private hide(known: T, last = known): void {
    const { name } = known.metadata;
    const uid = uidOf(known);
    this.shown.delete(uid);
    this.ahead.delete(uid);
    if (this.uids.get(name) === uid) this.uids.delete(name);
    this.onChange(last, undefined);
  }

  /** Removes objects of our writes up to `version` that the watch never showed: they were deleted again. */
  private settle(version: string): void {
    for (const [uid, written] of [...this.ahead]) {
      if (isOlder(version, written)) continue;
      this.ahead.delete(uid);
      const known = this.shown.get(uid);
      if (known) this.hide(known);
    }
  }
}

const uidOf = ({ metadata }: KubeObject): string => metadata.uid ?? '';
