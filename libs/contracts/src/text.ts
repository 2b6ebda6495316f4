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
