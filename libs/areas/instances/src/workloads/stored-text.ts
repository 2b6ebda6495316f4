/** Of what a driver says in words. */
const MOST_CHARACTERS = 500;

/** The text as Postgres can store it, and bounded: Postgres keeps neither NUL nor half a character, and an engine may print either. */
export function storableText(text: string, mostCharacters = MOST_CHARACTERS): string {
  return Buffer.from(text.slice(0, mostCharacters)).toString().replaceAll('\0', '\uFFFD');
}
