/** Characters that ECMAScript counts as white space. `\s` of other dialects matches other ones. */
const WHITE_SPACE = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/** Matches one line without white space at either end. Unlike `\S` and `.`, its classes mean the same in Python. */
export const TRIMMED_LINE = new RegExp(`^[^${WHITE_SPACE}]([^\\n\\r\\u2028\\u2029]*[^${WHITE_SPACE}])?$`);

/** Returns the first characters of a text, and no half of a surrogate pair. A character has two units at most. */
export function beginningOf(text: string, characters: number): string {
  return [...text.slice(0, 2 * characters)].slice(0, characters).join('');
}

/**
 * The number of a revision or of a version that a client wrote. Returns undefined for a text that cannot be one of our
 * numbers, so that it never reaches Postgres as one and clients may send any text.
 */
export function ordinalOf(reference: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(reference) ? Number(reference) : undefined;
}
