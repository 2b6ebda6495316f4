const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/;
const UNSTORABLE = /[\0\p{Cs}]/u;

/** Whether Postgres can keep a text: it has no NUL and no half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !UNSTORABLE.test(text);
}

/** The depth of a request body is bounded before it comes here, so recursion is safe. */
export function isStorableJson(value: unknown): boolean {
  if (typeof value === 'string') return isStorable(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isStorableJson);
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorableJson(item));
}

/** Whether a text is an RFC 3339 time that exists: `Date` alone would turn 30 February into 2 March. */
export function isTimestamp(text: string): boolean {
  if (!RFC3339.test(text) || Number.isNaN(Date.parse(text))) return false;
  const [year, month, day] = text.slice(0, 10).split('-').map(Number) as [number, number, number];
  return year > 0 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** Characters as Unicode and JSON Schema count them. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
