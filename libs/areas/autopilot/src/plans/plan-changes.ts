import { jsonPatch, type FieldIssue } from '@slipway/platform-http';
import type { RevisionSpec } from '@slipway/contracts';

type JsonObject = Record<string, unknown>;

/** One change of a plan. `path` is a JSON Pointer into the spec, `from` the value in the base. */
export interface SpecChange {
  op: 'add' | 'remove' | 'replace';
  path: string;
  from?: unknown;
  value?: unknown;
  rationale?: string | null;
}

export interface AppliedChanges {
  spec: JsonObject;
  /** With pointers as paths and the base's values as `from`. */
  changes: Required<SpecChange>[];
  issues: FieldIssue[];
}

const POLLUTING = ['__proto__', 'constructor', 'prototype'];

/** Applies changes to a copy of a spec, in order. Fields of the issues are `changes[n].…`. */
export function applyChanges(base: RevisionSpec, changes: readonly SpecChange[]): AppliedChanges {
  const spec = structuredClone(base) as unknown as JsonObject;
  const issues: FieldIssue[] = [];
  const applied = changes.map((change, index) => {
    const issue = (field: string, code: string, message: string) =>
      void issues.push({ field: `changes[${index}].${field}`, code, message });
    const path = pointerOf(change.path);
    const tokens = tokensOf(path);
    const from = valueAt(base, tokens);
    if (tokens.length === 0 || tokens.some((token) => token === '' || POLLUTING.includes(token)))
      issue('path', 'invalid', 'path must point into the spec');
    else if (change.op !== 'add' && valueAt(spec, tokens) === undefined)
      issue('path', 'missing', `the base has no value at ${path}`);
    else if (change.from !== undefined && digestible(change.from) !== digestible(from ?? null))
      issue('from', 'differs', `the base has ${digestible(from ?? null)} at ${path}`);
    else if (change.op !== 'remove' && change.value === undefined)
      issue('value', 'required', `${change.op} requires a value`);
    else if (!setValue(spec, tokens, change)) issue('path', 'missing', `the parent of ${path} is not an object`);
    return {
      op: change.op,
      path,
      from: from ?? null,
      value: change.value ?? null,
      rationale: change.rationale ?? null,
    };
  });
  return { spec, changes: applied, issues };
}

/** Returns the changes that turn the base into the spec. */
export function changesBetween(base: RevisionSpec, spec: RevisionSpec): Required<SpecChange>[] {
  return jsonPatch(base, spec).flatMap((operation) => {
    if (operation.op !== 'add' && operation.op !== 'remove' && operation.op !== 'replace') return [];
    const from = valueAt(base, tokensOf(operation.path)) ?? null;
    return [
      {
        op: operation.op,
        path: operation.path,
        from,
        value: operation.op === 'remove' ? null : operation.value,
        rationale: null,
      },
    ];
  });
}

/** RFC 7386: returns the merge patch that turns one spec into another. Specs hold neither nulls nor lists. */
export function mergePatchBetween(from: JsonObject, to: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(from)) if (!(key in to)) patch[key] = null;
  for (const [key, value] of Object.entries(to)) {
    const before = from[key];
    if (isObject(before) && isObject(value)) {
      const inner = mergePatchBetween(before, value);
      if (Object.keys(inner).length > 0) patch[key] = inner;
    } else if (digestible(before) !== digestible(value)) {
      patch[key] = value;
    }
  }
  return patch;
}

/**
 * Returns the single values that differ, as token paths. A change of a whole object counts as a change of everything in
 * it.
 */
export function changedLeaves(base: RevisionSpec, spec: RevisionSpec): string[][] {
  return changesBetween(base, spec).flatMap(({ path, from, value }) => {
    const leaves = new Set([...leavesOf(from), ...leavesOf(value)].map((leaf) => leaf.join('\0')));
    return [...leaves].map((leaf) => [...tokensOf(path), ...(leaf === '' ? [] : leaf.split('\0'))]);
  });
}

/** Returns `/a/b` unchanged, and `a.b` as `/a/b`. */
export function pointerOf(path: string): string {
  return path.startsWith('/') ? path : `/${path.split('.').join('/')}`;
}

export function tokensOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

export function valueAt(root: unknown, tokens: readonly string[]): unknown {
  let value = root;
  for (const token of tokens) {
    if (!isObject(value) || !Object.hasOwn(value, token)) return undefined;
    value = value[token];
  }
  return value;
}

/** Creates each missing object on the path to an added value: the base has no entry there. */
function setValue(spec: JsonObject, tokens: readonly string[], change: SpecChange): boolean {
  let parent = spec;
  for (const token of tokens.slice(0, -1)) {
    if (!Object.hasOwn(parent, token)) parent[token] = {};
    const next = parent[token];
    if (!isObject(next)) return false;
    parent = next;
  }
  const key = tokens[tokens.length - 1] as string;
  if (change.op === 'remove') delete parent[key];
  else parent[key] = structuredClone(change.value);
  return true;
}

function leavesOf(value: unknown): string[][] {
  if (!isObject(value)) return value === null ? [] : [[]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner).map((leaf) => [key, ...leaf]));
}

function digestible(value: unknown): string {
  if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
  return `{${Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${digestible(value[key])}`)
    .join()}}`;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
