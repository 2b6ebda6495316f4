import { isDeepStrictEqual } from 'node:util';

export type JsonMembers = Record<string, unknown>;

/**
 * Merges a file over the state of the server: a field that the file does not name stays, and null
 * removes a field. A list is replaced as a whole. An item that says nothing else than the server's item
 * keeps the values that the api has filled in.
 */
export function merged(found: unknown, wanted: unknown): unknown {
  if (wanted === undefined) return found;
  if (Array.isArray(wanted)) {
    const old: unknown[] = Array.isArray(found) ? found : [];
    return wanted.map((item, index) => (isSaid(item, old[index]) ? old[index] : merged(undefined, item)));
  }
  if (!isMembers(wanted)) return wanted;
  const made: JsonMembers = isMembers(found) ? { ...found } : {};
  for (const [name, value] of Object.entries(wanted)) {
    if (value === null) delete made[name];
    else made[name] = merged(made[name], value);
  }
  return made;
}

/** Whether the server's value contains everything that is wanted. */
function isSaid(wanted: unknown, found: unknown): boolean {
  return isMembers(wanted) && isMembers(found) && isSame(merged(found, wanted), found);
}

/** Compares two values. For a value that was never set, the api answers null, an empty object or nothing. */
export function isSame(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(withoutEmpty(one), withoutEmpty(other));
}

export function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isMembers(value)) return value;
  const kept = Object.entries(value)
    .map(([name, member]) => [name, withoutEmpty(member)] as const)
    .filter(([, member]) => member != null && !(isMembers(member) && Object.keys(member).length === 0));
  return Object.fromEntries(kept);
}

/** Returns the merge patch (RFC 7386) that turns the first into the second. */
export function patchBetween(before: JsonMembers, after: JsonMembers): JsonMembers {
  const patch: JsonMembers = {};
  for (const name of Object.keys({ ...before, ...after })) {
    const [old, made] = [before[name], after[name]];
    if (isSame(old, made)) continue;
    if (made == null) patch[name] = null;
    else patch[name] = isMembers(old) && isMembers(made) ? patchBetween(old, made) : made;
  }
  return patch;
}

export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

/** Returns each value that differs, by its path. A list is one value, because its items have no names. */
export function differencesBetween(before: unknown, after: unknown, path: string): Difference[] {
  if (isSame(before, after)) return [];
  if (isMembers(before ?? {}) && isMembers(after ?? {})) {
    const [old, made] = [(before ?? {}) as JsonMembers, (after ?? {}) as JsonMembers];
    return Object.keys({ ...old, ...made }).flatMap((name) =>
      differencesBetween(old[name], made[name], `${path}.${name}`),
    );
  }
  return [{ path, before, after }];
}

export function differenceLine({ path, before, after }: Difference): string {
  if (before == null) return `  + ${path}: ${JSON.stringify(after)}`;
  if (after == null) return `  - ${path}: ${JSON.stringify(before)}`;
  return `  ~ ${path}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`;
}

const isMembers = (value: unknown): value is JsonMembers =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
