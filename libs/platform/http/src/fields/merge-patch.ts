import { errors } from '../errors/platform.errors.js';
import { isPlainObject, newFindings, readObject } from './read-object.js';

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

/** How a resource reads the result of a merge patch. The DTO has only the fields that the patch names. */
export interface PatchRules<Fields, Dto> {
  type: new () => Dto;
  /** Returns the fields of a DTO with defaults for those that were removed. */
  toFields: (dto: Dto) => Fields;
  remediation?: string;
}

/**
 * Applies a merge patch to the fields of a resource. Only fields in the patch are validated and written, so a row that an
 * older version accepted does not block a change of another field.
 * @throws validation_failed (422) if the result breaks a rule
 */
export function patchedFields<Fields extends object, Dto extends object>(
  before: Fields,
  patch: object,
  { type, toFields, remediation }: PatchRules<Fields, Dto>,
): Fields {
  const named = (fields: object) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(patch, name)));
  const findings = newFindings();
  const dto = readObject(type, mergePatch(named(before), patch) as object, '', findings) as Dto;
  const details = [...findings.mistyped, ...findings.broken];
  if (details.length > 0) throw errors.validation_failed({ message: details[0]?.message, details, remediation });
  return { ...before, ...named(toFields(dto)) };
}
