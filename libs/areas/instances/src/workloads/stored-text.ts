/** Limit for a message of a driver. */
const MOST_CHARACTERS = 500;

/**
 * Returns the text in a form that Postgres can store, cut to the limit. Postgres accepts neither NUL nor half a
 * character, and an engine may print either.
 */
export function storableText(text: string, mostCharacters = MOST_CHARACTERS): string {
  return Buffer.from(text.slice(0, mostCharacters)).toString().replaceAll('\0', '\uFFFD');
}
