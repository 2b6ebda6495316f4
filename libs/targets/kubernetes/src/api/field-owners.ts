import type { ForeignField, ObjectMeta } from './objects.js';

/** Field managers of Slipway. */
const OURS = /^slipway(-|$)/;
/** More fields say nothing more about an object that others have changed so much. */
const MOST_FIELDS = 50;
const METADATA = new Set(['labels', 'annotations', 'finalizers', 'ownerReferences']);
/** The controllers' own notes. */
const CONTROLLERS = /^(deployment\.kubernetes\.io|leaderworkerset\.sigs\.k8s\.io)\//;

type Bag = Record<string, unknown>;

/**
 * Replaces `managedFields`, the largest part of many objects, by the fields in `spec` and `metadata` that other clients
 * have set. Absent if there are none. Fields that admission added to our own creations belong to us, and so do defaults.
 */
export function keepForeignFields(metadata: ObjectMeta): void {
  const { managedFields } = metadata;
  delete metadata['managedFields'];
  if (!Array.isArray(managedFields)) return;
  const foreign: ForeignField[] = [];
  for (const entry of managedFields as unknown[])
    for (const field of foreignIn(entry)) if (foreign.length < MOST_FIELDS) foreign.push(field);
  if (foreign.length > 0) metadata.foreign = foreign;
}

/** `spec.template.spec.containers[engine].image` */
export function fieldText({ path }: ForeignField): string {
  return path
    .map((part) => itemText(part) ?? `.${part}`)
    .join('')
    .slice(1);
}

/**
 * The value of a field in an object that may lack it; undefined if it does.
 * @param path as in `ForeignField`
 */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at.find((item) => isItem(part, item));
    return isBag(at) && Object.hasOwn(at, part) ? at[part] : undefined;
  }, object);
}

function* foreignIn(entry: unknown): Generator<ForeignField> {
  if (!isBag(entry)) return;
  const { manager, subresource, fieldsV1 } = entry;
  if (typeof manager !== 'string' || OURS.test(manager) || subresource === 'status' || !isBag(fieldsV1)) return;
  const { 'f:metadata': metadata, 'f:spec': spec } = fieldsV1;
  // The controller that made the object, under whatever name a distribution runs it.
  if (isBag(metadata) && 'f:generateName' in metadata) return;
  for (const path of leavesOf({
    ...(isBag(metadata) && { 'f:metadata': metadata }),
    ...(isBag(spec) && { 'f:spec': spec }),
  }))
    if (path[0] === 'spec' || (METADATA.has(path[1] ?? '') && !CONTROLLERS.test(path[2] ?? '')))
      yield { path, manager };
}

function* leavesOf(fields: Bag, path: string[] = []): Generator<string[]> {
  for (const [key, inner] of Object.entries(fields)) {
    if (key === '.') continue;
    const own = [...path, key.replace(/^f:/, '')];
    const isInner = isBag(inner) && Object.keys(inner).some((one) => one !== '.');
    if (isInner) yield* leavesOf(inner, own);
    // An empty mapping, such as annotations of which the last was removed, is nothing that was added.
    else if (!(isBag(inner) && '.' in inner) || /^[kv]:/.test(key)) yield own;
  }
}

/** The part of a path that selects an item of a list, without its syntax. */
function itemText(part: string): string | undefined {
  const [kind, text] = [part.slice(0, 2), part.slice(2)];
  if (kind !== 'k:' && kind !== 'v:') return undefined;
  const value = parsed(text);
  return `[${isBag(value) ? Object.values(value).join(' ') : String(value)}]`;
}

function isItem(part: string, item: unknown): boolean {
  const value = parsed(part.slice(2));
  if (!isBag(value)) return value === item;
  return isBag(item) && Object.entries(value).every(([key, one]) => item[key] === one);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function isBag(value: unknown): value is Bag {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
