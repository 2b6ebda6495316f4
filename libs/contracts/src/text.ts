/** Returns the first characters of a text, and no half of a surrogate pair. A character has two units at most. */
export function beginningOf(text: string, characters: number): string {
  return [...text.slice(0, 2 * characters)].slice(0, characters).join('');
}
