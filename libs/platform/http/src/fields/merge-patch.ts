import { isPlainObject } from './read-object.js';

/** The media type of a JSON merge patch. `PATCH` also accepts `application/json`, with the same meaning. */
export const MERGE_PATCH = 'application/merge-patch+json';

/**
 * RFC 7386: merges objects key by key; `null` removes a key, and everything else replaces the old value. Neither
 * argument is changed.
 * @param patch not nested deeper than a request body may be, so recursion is safe
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  // A Map, because in an object a key `__proto__` would not become a member.
  const merged = new Map(isPlainObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
