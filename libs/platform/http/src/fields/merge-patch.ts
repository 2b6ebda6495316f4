import { isPlainObject } from './read-object.js';

/** The media type of a JSON merge patch; `PATCH` takes it beside `application/json`, which means the same here. */
export const MERGE_PATCH = 'application/merge-patch+json';

/**
 * RFC 7386: objects merge key by key, `null` removes, everything else replaces. Neither argument is changed.
 * @param patch not nested deeper than a request body may be, so recursion is safe
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isPlainObject(patch)) return patch;
  // Not an object: a member named __proto__ would then not be a member.
  const merged = new Map(isPlainObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
