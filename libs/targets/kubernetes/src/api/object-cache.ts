import type { KubeObject } from './objects.js';

/** `undefined` before: it came. `undefined` after: it went, and `before` is how it was at its end. */
export type ObjectListener<T> = (before: T | undefined, after: T | undefined) => void;

/** Far more than one namespace of ours can hold; a server that sends more is broken. */
const MAX_OBJECTS = 100_000;

/** More objects than a cache holds. */
export class CacheFullError extends Error {
  constructor() {
    super(
      `the cluster lists more than ${MAX_OBJECTS} objects in the namespace of the target; give the target a namespace of its own`,
    );
    this.name = 'CacheFullError';
  }
}

/**
 * Whether one version is older than another. Versions of one kind are decimal numbers that grow (every API server there is; a
 * guarantee since Kubernetes 1.35). Where one is not, nobody can tell.
 */
export function isOlder(version: string | undefined, than: string | undefined): boolean {
  if (!isNumber(version) || !isNumber(than)) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}

const isNumber = (version: string | undefined): version is string => /^[1-9]\d*$/.test(version ?? '');

/**
 * The objects of one list and the watch that goes on from it, by uid. What we wrote ourselves is shown at once and stays until
 * the watch has come as far (k8s#129795): an older word of the watch does not take it back. Listeners hear of each change of what
 * is shown.
 */
export class ObjectCache<T extends KubeObject> {
  /** How far the watch has come. */
  version?: string;
  private readonly shown = new Map<string, T>();
  private readonly uids = new Map<string, string>();
  /** Uids whose object is as we wrote it, and in which version: the watch has not come so far. */
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

  /** The server told of it by itself; a write of ours says nothing of whether it is the server that we knew. */
  wasTold(uid: string | undefined): boolean {
    return uid !== undefined && this.shown.has(uid) && !this.ahead.has(uid);
  }

  values(): Iterable<T> {
    return this.shown.values();
  }

  /** What we wrote so far and the watch has not shown. To be taken before a list begins, for `replace`. */
  written(): ReadonlyMap<string, string> {
    return new Map(this.ahead);
  }

  /**
   * All there is, at `version`. What is not in it has gone, seen or not: a consistent list knows of every write that was answered
   * before it began.
   */
  replace(items: readonly T[], version: string, writtenBefore: ReadonlyMap<string, string>): void {
    this.version = version;
    for (const [uid, written] of writtenBefore) if (this.ahead.get(uid) === written) this.ahead.delete(uid);
    const listed = new Set(items.map(uidOf));
    for (const [uid, object] of [...this.shown]) if (!listed.has(uid) && !this.ahead.has(uid)) this.hide(object);
    for (const item of items) this.show(item);
    this.settle(version);
  }

  /** One event of the watch. Whatever is not newer than the watch itself was sent before. */
  take(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void {
    const { resourceVersion = '' } = object.metadata;
    if (this.version !== undefined && isNumber(resourceVersion) && !isOlder(this.version, resourceVersion)) return;
    this.version = resourceVersion;
    // What we wrote later was still there.
    const isPast = isOlder(resourceVersion, this.ahead.get(uidOf(object)));
    const known = this.shown.get(uidOf(object));
    if (type !== 'DELETED') this.show(object);
    else if (known && !isPast) this.hide(known, object);
    this.settle(resourceVersion);
  }

  /** A bookmark: nothing has happened up to `version` that was not told. */
  advance(version: string): void {
    if (isOlder(version, this.version)) return;
    this.version = version;
    this.settle(version);
  }

  /** What a write of ours was answered with. */
  remember(object: T): void {
    const { resourceVersion: version = '', uid } = object.metadata;
    if (uid === undefined) return;
    // The watch has come so far and shows it, or has shown its end.
    if (this.version !== undefined && !isOlder(this.version, version)) return;
    if (isOlder(version, this.ahead.get(uid))) return;
    if (this.shown.size >= MAX_OBJECTS) return;
    this.ahead.set(uid, version);
    this.put(object);
  }

  private show(object: T): void {
    // Older than what we wrote: the watch will come to it.
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

  /** @param last as it was at its end, where that is known */
  private hide(known: T, last = known): void {
    const { name } = known.metadata;
    const uid = uidOf(known);
    this.shown.delete(uid);
    this.ahead.delete(uid);
    if (this.uids.get(name) === uid) this.uids.delete(name);
    this.onChange(last, undefined);
  }

  /** Objects that we wrote, up to here, and that the watch never showed: they have gone again. */
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
