import { type KubeKind } from '../../src/api/kinds.js';
import type { KubeObject } from '../../src/api/objects.js';
import { applyFields, conflictsOf, ownFields } from './applied-fields.js';
import type { StubApi, StubOptions, StubRequest } from './contract.js';
import { selects } from './label-selector.js';
import type { ObjectStore } from './object-store.js';
import { assertValid, expired, notFound, Refusal } from './refusals.js';

interface Page {
  version: number;
  items: KubeObject[];
  from: number;
}

/** The server's operations for each verb, on the objects of one store. */
export class Operations {
  private readonly pages = new Map<string, Page>();

  constructor(
    private readonly store: ObjectStore,
    private readonly options: StubOptions,
    private readonly api: StubApi,
  ) {}

  /** Makes all issued tokens of pages invalid. */
  expirePages(): void {
    for (const page of this.pages.values()) page.version = -1;
  }

  get(kind: KubeKind, { namespace, name = '' }: StubRequest): KubeObject {
    return this.store.get(kind, namespace, name) ?? refuse(kind, name);
  }

  /** The pages of a list show the objects of the moment of its first page. */
  list(kind: KubeKind, { namespace, query }: StubRequest): unknown {
    const limit = Number(query.limit ?? 0);
    const page = query.continue === undefined ? this.firstPage(kind, namespace, query) : this.pages.get(query.continue);
    if (!page || page.version < 0) throw expired();
    const end = limit > 0 ? page.from + limit : page.items.length;
    const isLast = end >= page.items.length;
    const token = isLast ? undefined : `page-${page.version}-${this.pages.size}`;
    if (token !== undefined) this.pages.set(token, { ...page, from: end });
    return {
      kind: `${kind.kind}List`,
      metadata: { resourceVersion: String(page.version), continue: token },
      items: page.items.slice(page.from, end),
    };
  }

  create(kind: KubeKind, { namespace, body, query }: StubRequest): KubeObject {
    if (kind.group === 'authorization.k8s.io') return body as KubeObject;
    const object = withNamespace(body as KubeObject, namespace);
    assertValid(kind.plural, object, query.fieldValidation === 'Strict');
    const { name } = object.metadata;
    if (this.store.get(kind, namespace, name)) {
      const details = { name, group: kind.group, kind: kind.plural };
      throw new Refusal(409, `${kind.plural} "${name}" already exists`, 'AlreadyExists', details);
    }
    const manager = query.fieldManager ?? 'unknown';
    return this.store.write(kind, object, (managers) => ownFields(managers, manager, object));
  }

  apply(kind: KubeKind, { namespace, name = '', body, query }: StubRequest): KubeObject {
    const { fieldManager: manager } = query;
    if (!manager) throw new Refusal(400, 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value');
    const applied = withNamespace(body as KubeObject, namespace);
    const object = this.store.get(kind, namespace, name) ?? ({ metadata: { name, namespace } } as KubeObject);
    const managers = this.store.managersOf(kind, namespace, name);
    const conflicts = query.force === 'true' ? [] : conflictsOf(managers, manager, object, applied);
    if (conflicts.length > 0) throw new Refusal(409, `Apply failed with 1 conflict: ${conflicts.join(', ')}`);
    const draft = structuredClone(object);
    applyFields(new Map([...managers].map(([who, paths]) => [who, new Set(paths)])), manager, draft, applied);
    assertValid(kind.plural, draft, query.fieldValidation === 'Strict');
    return this.store.write(kind, draft, (kept) => applyFields(kept, manager, structuredClone(object), applied));
  }

  /** A merge patch. */
  patch(kind: KubeKind, { namespace, name = '', body, query }: StubRequest): KubeObject {
    const object = this.store.get(kind, namespace, name) ?? refuse(kind, name);
    const { uid } = (body as KubeObject).metadata;
    if (uid !== undefined && uid !== object.metadata.uid) throw new Refusal(409, 'the UID does not match');
    const patched = mergedWith(object, body) as KubeObject;
    assertValid(kind.plural, patched, query.fieldValidation === 'Strict');
    const manager = query.fieldManager ?? 'unknown';
    return this.store.write(kind, patched, (managers) => ownFields(managers, manager, patched, object));
  }

  delete(kind: KubeKind, { namespace, name = '', body }: StubRequest): KubeObject {
    const object = this.get(kind, { namespace, name } as StubRequest);
    const uid = body?.preconditions?.uid as string | undefined;
    if (uid !== undefined && uid !== object.metadata.uid)
      throw new Refusal(
        409,
        `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${object.metadata.uid}`,
      );
    const graceSeconds = (body?.gracePeriodSeconds ?? graceOf(object)) as number;
    if (kind.plural === 'pods' && graceSeconds > 0 && this.options.onPodDeletion && isOnNode(object)) {
      if (object.metadata.deletionTimestamp) return object;
      const leaving = this.store.change(kind, namespace, name, ({ metadata }) => {
        metadata.deletionTimestamp = new Date(Date.now() + graceSeconds * 1000).toISOString();
        metadata.deletionGracePeriodSeconds = graceSeconds;
      });
      this.options.onPodDeletion(leaving, this.api);
      return leaving;
    }
    this.store.remove(kind, namespace, name);
    return object;
  }

  private firstPage(kind: KubeKind, namespace: string, { labelSelector, fieldSelector }: StubRequest['query']): Page {
    const matches = selects(labelSelector);
    const [, named] = /^metadata\.name=(.*)$/.exec(fieldSelector ?? '') ?? [];
    const items = this.store
      .list(kind, namespace)
      .filter(({ metadata }) => matches(metadata.labels) && metadata.name === (named ?? metadata.name));
    return { version: Number(this.store.version), items, from: 0 };
  }
}

function refuse(kind: KubeKind, name: string): never {
  throw notFound(kind.plural, name);
}

function withNamespace(object: KubeObject, namespace: string): KubeObject {
  const own = object.metadata.namespace;
  if (own !== undefined && own !== namespace)
    throw new Refusal(400, 'the namespace of the provided object does not match the namespace sent on the request');
  return { ...object, metadata: { ...object.metadata, namespace } };
}

const specOf = (object: KubeObject) =>
  (object.spec ?? {}) as { nodeName?: string; terminationGracePeriodSeconds?: number };
const isOnNode = (object: KubeObject): boolean => specOf(object).nodeName !== undefined;
const graceOf = (object: KubeObject): number => specOf(object).terminationGracePeriodSeconds ?? 30;

/** RFC 7396. */
function mergedWith(value: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const before = typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  const merged: Record<string, unknown> = { ...before };
  for (const [key, one] of Object.entries(patch))
    if (one === null) delete merged[key];
    else merged[key] = mergedWith(merged[key], one);
  return merged;
}
