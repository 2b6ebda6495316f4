/*
 * The slashes at the ends of a text. The pattern `/\/+$/` starts again at every slash, so a text of many slashes takes
 * quadratic time.
 */

/** Returns the text without the slashes at its end. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

/** Returns the text without the slashes at both of its ends. */
export function withoutOuterSlashes(text: string): string {
  let start = 0;
  while (text[start] === '/') start += 1;
  return withoutTrailingSlashes(text.slice(start));
}
