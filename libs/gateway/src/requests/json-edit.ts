const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Sets and removes members of a JSON object's top level and leaves every other byte as the client sent it: numbers beyond
 * double precision, key order and spelling survive, and a long conversation is copied instead of being written again.
 * `jsonc-parser` edits as well, but builds the tree of the whole text first.
 *
 * The text must have been accepted by `JSON.parse`; nothing is checked here. A member that stands twice is changed twice, since
 * parsers differ in which of the two they believe.
 * @param set new values, already JSON
 */
export function editTopLevel(text: Buffer, set: Readonly<Record<string, string>>, remove: readonly string[]): Buffer {
  const kept: Buffer[] = [];
  let keptTo = 0;
  let hasMember = false;
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] === QUOTE) {
    const keyEnd = skipString(text, at);
    const key = keyOf(text, at, keyEnd);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const valueEnd = skipValue(text, valueStart);
    const afterValue = skipSpace(text, valueEnd);
    const next = text[afterValue] === COMMA ? skipSpace(text, afterValue + 1) : afterValue;
    if (remove.includes(key)) {
      kept.push(text.subarray(keptTo, at));
      keptTo = next;
      // The last member takes the comma before it along.
      if (text[afterValue] !== COMMA && hasMember) dropTrailingComma(kept);
    } else {
      hasMember = true;
      const value = Object.hasOwn(set, key) ? set[key] : undefined;
      if (value !== undefined) {
        kept.push(text.subarray(keptTo, valueStart), Buffer.from(value, 'utf8'));
        keptTo = valueEnd;
      }
    }
    at = next;
  }
  kept.push(text.subarray(keptTo));
  return kept.length === 1 ? text : Buffer.concat(kept);
}

function dropTrailingComma(kept: Buffer[]): void {
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    const piece = kept[index] as Buffer;
    const comma = piece.lastIndexOf(COMMA);
    if (comma < 0 || skipSpace(piece, comma + 1) < piece.length) {
      if (skipSpace(piece, 0) >= piece.length) continue;
      return;
    }
    kept[index] = piece.subarray(0, comma);
    return;
  }
}

function keyOf(text: Buffer, start: number, end: number): string {
  const raw = text.toString('utf8', start + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
}

function skipSpace(text: Buffer, from: number): number {
  let at = from;
  while (at < text.length && (text[at] as number) <= 0x20) at += 1;
  return at;
}

/** From an opening quote to just after the closing one. */
function skipString(text: Buffer, from: number): number {
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf(QUOTE, at);
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipValue(text: Buffer, from: number): number {
  if (text[from] === QUOTE) return skipString(text, from);
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const byte = text[at] as number;
    if (byte === QUOTE) {
      at = skipString(text, at);
      continue;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || byte <= 0x20)) return at;
    at += 1;
  }
  return at;
}
