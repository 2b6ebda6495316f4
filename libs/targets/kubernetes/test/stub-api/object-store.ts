import { randomUUID } from 'node:crypto';
import { apiVersionOf, type KubeKind } from '../../src/api/kinds.js';
import type { KubeObject } from '../../src/api/objects.js';
import { managedFieldsOf, ownFields, type Managers } from './applied-fields.js';
import type { Change, StubStore } from './contract.js';

/** A change for watches. Whether a watch shows it depends on the object before the change. */
export interface StoredChange {
  version: number;
  plural: string;
  namespace: string;
  before?: KubeObject;
  after?: KubeObject;
  /** The last state of a deleted object, with the version of its deletion. */
  last: KubeObject;
}

interface StoredObject {
  object: KubeObject;
  managers: Managers;
}

/** The manager of writes by controllers and people. */
const OTHERS = 'stub';

const MOST_HISTORY = 20_000;

/** Objects by kind, namespace and name, with the history for watches. */
export class ObjectStore implements StubStore {
  private readonly kept = new Map<string, StoredObject>();
  private written: StoredChange[] = [];
  private newest = 100;
  private compactedTo = 0;

  constructor(private readonly onWrite: (written: StoredChange, kind: KubeKind, change: Change) => void) {}

  get version(): string {
    return String(this.newest);
  }

  /** The changes after a version; undefined if they are no longer known. */
  since(version: number): StoredChange[] | undefined {
    if (version < this.compactedTo) return undefined;
    return this.written.filter((one) => one.version > version);
  }

  compact(): void {
    this.compactedTo = this.newest;
    this.written = [];
  }

  wipe(): void {
    this.kept.clear();
    this.written = [];
    this.newest = 1;
    this.compactedTo = 0;
  }

  get<T extends KubeObject>(kind: KubeKind, namespace: string, name: string): T | undefined {
    return structuredClone(this.kept.get(keyOf(kind, namespace, name))?.object) as T | undefined;
  }

  list<T extends KubeObject>(kind: KubeKind, namespace?: string): T[] {
    const prefix = `${kind.plural}/`;
    return [...this.kept]
      .filter(([key, { object }]) => key.startsWith(prefix) && (!namespace || object.metadata.namespace === namespace))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { object }]) => structuredClone(object) as T);
  }

  put<T extends KubeObject>(kind: KubeKind, object: T, manager = OTHERS): T {
    const { namespace = 'default', name } = object.metadata;
    const before = this.kept.get(keyOf(kind, namespace, name))?.object;
    return this.write<T>(kind, object, (managers) => ownFields(managers, manager, object, before));
  }

  change<T extends KubeObject>(
    kind: KubeKind,
    namespace: string,
    name: string,
    change: (object: T) => void,
    manager = OTHERS,
  ): T {
    const object = this.get<T>(kind, namespace, name);
    if (!object) throw new Error(`the stub has no ${kind.plural} ${namespace}/${name}`);
    const before = structuredClone(object);
    change(object);
    return this.write<T>(kind, object, (managers) => ownFields(managers, manager, object, before));
  }

  managersOf(kind: KubeKind, namespace: string, name: string): Managers {
    return this.kept.get(keyOf(kind, namespace, name))?.managers ?? new Map();
  }

  /**
   * Writes the object under a new version; `own` records the owner of its fields. An unchanged object is not written.
   */
  write<T extends KubeObject>(kind: KubeKind, object: KubeObject, own: (managers: Managers) => void): T {
    const namespace = object.metadata.namespace ?? 'default';
    const key = keyOf(kind, namespace, object.metadata.name);
    const before = this.kept.get(key);
    const managers = before?.managers ?? new Map();
    own(managers);
    const after = this.completed(kind, namespace, structuredClone(object), before?.object);
    after.metadata.managedFields = managedFieldsOf(managers, after);
    if (before && isSame(before.object, after)) return structuredClone(before.object) as T;
    this.newest += 1;
    after.metadata.resourceVersion = String(this.newest);
    this.kept.set(key, { object: after, managers });
    this.tell({ kind, namespace, before: before?.object, after, last: after }, before ? 'changed' : 'created');
    return structuredClone(after) as T;
  }

  remove(kind: KubeKind, namespace: string, name: string): void {
    const key = keyOf(kind, namespace, name);
    const before = this.kept.get(key)?.object;
    if (!before) return;
    this.newest += 1;
    this.kept.delete(key);
    const last = structuredClone(before);
    last.metadata.resourceVersion = String(this.newest);
    this.tell({ kind, namespace, before, after: undefined, last }, 'deleted');
  }

  private tell(one: Omit<StoredChange, 'version' | 'plural'> & { kind: KubeKind }, change: Change): void {
    const { kind, ...rest } = one;
    const written = { ...rest, version: this.newest, plural: kind.plural };
    this.written.push(written);
    if (this.written.length > MOST_HISTORY) this.compactedTo = this.written.shift()?.version ?? this.compactedTo;
    this.onWrite(written, kind, change);
  }

  private completed(kind: KubeKind, namespace: string, object: KubeObject, before?: KubeObject): KubeObject {
    const { metadata } = object;
    metadata.namespace = namespace;
    metadata.uid = before?.metadata.uid ?? randomUUID();
    metadata.creationTimestamp = before?.metadata.creationTimestamp ?? new Date().toISOString();
    metadata.resourceVersion = before?.metadata.resourceVersion;
    const isSpecChanged = JSON.stringify(before?.spec) !== JSON.stringify(object.spec);
    metadata.generation = (before?.metadata.generation ?? 0) + (isSpecChanged || !before ? 1 : 0);
    return { ...object, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  }
}

const keyOf = (kind: KubeKind, namespace: string, name: string): string => `${kind.plural}/${namespace}/${name}`;

const isSame = (one: KubeObject, other: KubeObject): boolean => canonical(one) === canonical(other);

/** The order of fields does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
