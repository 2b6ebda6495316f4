import { beginningOf } from '@slipway/contracts';
import { type CollectedBytes, JsonRefused, JsonScanner } from '@slipway/platform-bounds';

const MARK = [0xef, 0xbb, 0xbf];

/** Removes a byte order mark from the start of a body. A piece may end within the mark. */
export class BodyStart {
  private read = 0;

  withoutMark(piece: Buffer): Buffer {
    let at = 0;
    while (this.read < MARK.length && at < piece.length) {
      if (piece[at] === MARK[this.read]) {
        at += 1;
        this.read += 1;
        continue;
      }
      // No JSON text begins with one of these bytes.
      if (this.read > 0) throw new JsonRefused('malformed');
      this.read = MARK.length;
    }
    return piece.subarray(at);
  }

  /** Whether the body so far is only a part of the mark. */
  get isIncomplete(): boolean {
    return this.read > 0 && this.read < MARK.length;
  }
}

/** A longer body is not read a second time for its message. */
const MOST_BYTES = 64 * 1024;

/**
 * Where the text stops being JSON. The text itself is not quoted, because it may contain a secret.
 * @param body the bytes up to and including the piece with the fault
 */
export function positionOfFault(body: CollectedBytes): string | undefined {
  if (body.size > MOST_BYTES) return undefined;
  const text = body.whole();
  const scanner = new JsonScanner({ maxDepth: Infinity });
  for (let at = 0; at < text.length; at += 1) {
    try {
      scanner.push(text.subarray(at, at + 1));
    } catch {
      return `unexpected character at ${positionOf(text.toString('utf8', 0, at))}`;
    }
  }
  return undefined;
}

function positionOf(before: string): string {
  const lines = before.split('\n');
  return `line ${lines.length}, column ${[...lines.at(-1)!].length + 1}`;
}

/** Why a text was not accepted, although no byte of it is out of place. */
export function forbiddenOrIncomplete(text: string): string {
  try {
    JSON.parse(text);
    return 'the names `__proto__` and `constructor.prototype` are not allowed';
  } catch {
    return 'it ends before it is complete';
  }
}

const LONGEST_NAME = 100;
const [QUOTE, BACKSLASH, COLON, OPEN, CLOSE] = [...'"\\:{}'].map((sign) => sign.charCodeAt(0));

/**
 * The first name that an object of a JSON text has twice. `JSON.parse` keeps the last value and drops the others, and
 * other readers of the same text keep the first.
 * @param text valid JSON
 */
export function repeatedName(text: string): string | undefined {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charCodeAt(at);
    if (sign === OPEN) objects.push(new Set());
    else if (sign === CLOSE) objects.pop();
    else if (sign === QUOTE) {
      const end = endOfText(text, at);
      if (text.charCodeAt(afterSpace(text, end + 1)) === COLON) {
        const name = nameOf(text.slice(at + 1, end));
        const names = objects.at(-1)!;
        if (names.has(name)) return beginningOf(name, LONGEST_NAME);
        names.add(name);
      }
      at = end;
    }
  }
  return undefined;
}

/** The closing quote: the first one after an even number of backslashes. */
function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
    if ((end - first) % 2 === 0) return end;
  }
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (' \t\n\r'.includes(text.charAt(at)) && at < text.length) at += 1;
  return at;
}

const nameOf = (raw: string): string => (raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw);
