/* Media types in HTTP headers (RFC 9110, 8.3 and 12.5.1). All readers take linear time, whatever a client sends. */

export interface MediaType {
  /** In lower case, such as `application/json`. */
  type: string;
  /** Names in lower case. */
  parameters: ReadonlyMap<string, string>;
}

const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/;
const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** Reads a media type or a range of them; undefined if the text is malformed or repeats a parameter. */
export function mediaTypeOf(text: string): MediaType | undefined {
  const [name = '', ...rest] = partsOf(text, ';');
  const halves = name.split('/');
  if (halves.length !== 2 || !halves.every((half) => TOKEN.test(half))) return undefined;
  const parameters = new Map<string, string>();
  for (const part of rest) {
    // RFC 9110 5.6.6 allows empty parameters.
    if (part === '') continue;
    const at = part.indexOf('=');
    const key = part.slice(0, at).toLowerCase();
    const value = at < 0 ? undefined : valueOf(part.slice(at + 1));
    if (value === undefined || !TOKEN.test(key) || parameters.has(key)) return undefined;
    parameters.set(key, value);
  }
  return { type: name.toLowerCase(), parameters };
}

function valueOf(text: string): string | undefined {
  if (TOKEN.test(text)) return text;
  return QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1');
}

/** Splits at a separator outside of quoted texts, and trims the parts. */
function partsOf(text: string, separator: ',' | ';'): string[] {
  if (!text.includes('"')) return text.split(separator).map((part) => part.trim());
  const parts: string[] = [];
  let from = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') isQuoted = !isQuoted;
    else if (letter === '\\' && isQuoted) at += 1;
    else if (letter === separator && !isQuoted) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts;
}

/** Whether a text of this type is UTF-8: it names no other charset. */
export function hasUtf8Charset({ parameters }: MediaType): boolean {
  const charset = parameters.get('charset');
  return charset === undefined || /^utf-?8$/i.test(charset);
}

/**
 * Whether a request has several different `Content-Type` headers. Node keeps the first of several, but a proxy on the way
 * may have judged the request by another one.
 * @param rawHeaders names and values in turn
 * @param first the value that Node keeps
 */
export function hasOtherContentType(rawHeaders: readonly string[], first: string): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    // Its length first, because this runs in every request of the gateway.
    if (name.length === 12 && rawHeaders[at + 1] !== first && name.toLowerCase() === 'content-type') return true;
  }
  return false;
}

interface AcceptedRange {
  type: string;
  weight: number;
}

function rangesOf(accept: string): AcceptedRange[] {
  return partsOf(accept, ',').flatMap((part) => {
    const range = mediaTypeOf(part);
    const weight = range?.parameters.get('q') ?? '1';
    return range && WEIGHT.test(weight) ? [{ type: range.type, weight: Number(weight) }] : [];
  });
}

/** How closely a range names a type: 3 if exactly, 0 if it does not match. */
function closenessOf(range: string, type: string): number {
  if (range === type) return 3;
  if (range === '*/*') return 1;
  return range.endsWith('/*') && type.startsWith(range.slice(0, -1)) ? 2 : 0;
}

/**
 * Chooses the media type of an answer. Parameters of ranges other than the weight are ignored, and so are malformed
 * ranges. A header without any valid range counts as absent.
 * @param accept the header; undefined accepts everything
 * @param offered the default first. Of types that the client names with one weight, the last one is chosen, because a
 * client does not name a special form without wanting it
 * @returns undefined if the client accepts none of them
 */
export function preferredMediaType(accept: string | undefined, offered: readonly string[]): string | undefined {
  // The values that nearly every client sends.
  if (accept === undefined || accept === '*/*' || accept === offered[0]) return offered[0];
  const ranges = rangesOf(accept);
  if (ranges.length === 0) return offered[0];
  let best: { type: string; weight: number; closeness: number } | undefined;
  for (const type of offered) {
    const { weight, closeness } = weightOf(type, ranges);
    if (weight === 0) continue;
    const isBetter =
      !best ||
      weight > best.weight ||
      (weight === best.weight && (closeness > best.closeness || (closeness === 3 && best.closeness === 3)));
    if (isBetter) best = { type, weight, closeness };
  }
  return best?.type;
}

/** The closest range decides; of several that are equally close, the heaviest. */
function weightOf(type: string, ranges: readonly AcceptedRange[]): { weight: number; closeness: number } {
  let closest = { weight: 0, closeness: 0 };
  for (const { type: range, weight } of ranges) {
    const closeness = closenessOf(range, type);
    if (closeness === 0 || closeness < closest.closeness) continue;
    if (closeness > closest.closeness || weight > closest.weight) closest = { weight, closeness };
  }
  return closest;
}
