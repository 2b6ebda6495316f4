import { jsonKeyOf, JsonRefused, JsonScanner, type JsonMember } from '@slipway/platform-bounds';
import { upstreamFailed } from '../gateway.errors.js';

const MAX_DEPTH = 128;
/** Most bytes of a top-level key: a longer one is not `model`. */
const MAX_KEY_BYTES = 64;
/** Most bytes of a value: no name of a model and no path is longer. */
const MAX_VALUE_BYTES = 8 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);
/** The key as every engine writes it. Quotes inside a string are escaped, so this never matches there. */
const KEY = Buffer.from('"model"');
/** The beginning of the escapes of its letters. No engine escapes letters, but every client reads them. */
export const ESCAPED_LETTER = '\\u006';
/** Some servers write it before a text, and clients skip it. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Enough bytes for the key and most names. */
const ENOUGH = 64;

/**
 * Replaces the value of the outermost `model` of a JSON text with the name that the client requested, while the text
 * arrives. Engines write there what they loaded, which is the path of a file. Every other byte stays unchanged, and
 * only this member is held back. If the text turns out not to be JSON, the rest passes unchanged: it has no members.
 */
export class ModelRename {
  private readonly scanner = new JsonScanner({ maxDepth: MAX_DEPTH });
  /** The beginning of a member that may be `model`. */
  private kept = NOTHING;
  /** Offset of the first kept byte, or of the next byte if none is kept. */
  private keptAt = 0;
  private membersRead = 0;
  private isNoJson = false;
  private markRead = 0;

  /** @param name the replacement, already encoded as JSON */
  constructor(private readonly name: Buffer) {}

  /**
   * @returns the bytes that can be sent now
   * @throws GatewayError 502 for what no engine writes: a name of 8 KiB, a thousand members, a hundred levels
   */
  push(piece: Buffer): Buffer {
    const pieces = this.pieces(piece);
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** Like `push`, but returns the pieces without joining them. */
  pieces(piece: Buffer): Buffer[] {
    const mark = this.markIn(piece);
    return mark === 0 ? this.scanned(piece) : [piece.subarray(0, mark), ...this.scanned(piece.subarray(mark))];
  }

  /** Returns how many bytes of the piece belong to a byte order mark at the beginning of the text. */
  private markIn(piece: Buffer): number {
    let length = 0;
    while (length < piece.length && this.markRead < BYTE_ORDER_MARK.length) {
      if (piece[length] !== BYTE_ORDER_MARK[this.markRead]) this.markRead = BYTE_ORDER_MARK.length;
      else {
        this.markRead += 1;
        length += 1;
      }
    }
    return length;
  }

  private scanned(piece: Buffer): Buffer[] {
    if (this.isNoJson) return [piece];
    this.scan(piece);
    const text = this.kept.length === 0 ? piece : Buffer.concat([this.kept, piece]);
    const out: Buffer[] = [];
    let passedTo = 0;
    for (const member of this.nextMembers()) {
      if (!this.isModel(text, member.keyStart, member.keyEnd)) continue;
      out.push(text.subarray(passedTo, member.valueStart - this.keptAt), this.name);
      passedTo = member.valueEnd - this.keptAt;
    }
    const keptFrom = this.isNoJson ? text.length : Math.max(passedTo, this.keptFrom(text) - this.keptAt);
    out.push(text.subarray(passedTo, keptFrom));
    this.keptAt += keptFrom;
    if (text.length - keptFrom > MAX_VALUE_BYTES) throw upstreamFailed();
    this.kept = keptFrom === text.length ? NOTHING : copyFrom(text, keptFrom);
    return out;
  }

  /** Whether bytes are held back. If the text has ended, it ended in the middle of the member, and they are not sent. */
  get isKeeping(): boolean {
    return this.kept.length > 0;
  }

  private scan(piece: Buffer): void {
    try {
      this.scanner.push(piece);
    } catch (error) {
      if (!(error instanceof JsonRefused) || error.fault !== 'malformed') throw upstreamFailed();
      this.isNoJson = true;
    }
  }

  private nextMembers(): JsonMember[] {
    const members = this.scanner.members(this.membersRead);
    this.membersRead += members.length;
    return members;
  }

  private keptFrom(text: Buffer): number {
    const end = this.keptAt + text.length;
    const member = this.scanner.unfinished();
    if (!member) return end;
    const { keyStart, keyEnd } = member;
    const isOpen = keyEnd === undefined ? end - keyStart <= MAX_KEY_BYTES : this.isModel(text, keyStart, keyEnd);
    return isOpen ? keyStart : end;
  }

  private isModel(text: Buffer, keyStart: number, keyEnd: number): boolean {
    // A key whose beginning has been sent already was too long to be `model`.
    if (keyStart < this.keptAt || keyEnd - keyStart > MAX_KEY_BYTES) return false;
    return jsonKeyOf(text, keyStart - this.keptAt, keyEnd - this.keptAt) === 'model';
  }
}

/** A part of the text would keep all of it in memory. */
function copyFrom(text: Buffer, from: number): Buffer {
  const copy = Buffer.allocUnsafeSlow(text.length - from);
  text.copy(copy, 0, from);
  return copy;
}

/**
 * Does the same for a complete text, and returns pieces for the caller to join. It scans up to the last key of that
 * name, which is mostly near the beginning.
 */
export function renamed(text: Buffer, name: Buffer): Buffer[] {
  const rename = new ModelRename(name);
  if (text.includes(ESCAPED_LETTER)) return rename.pieces(text);
  const last = text.lastIndexOf(KEY);
  if (last < 0) return [text];
  const value = plainValue(text, last);
  if (value) return [text.subarray(0, value.start), name, text.subarray(value.end)];
  const scanned = Math.min(text.length, last + ENOUGH);
  const pieces = rename.pieces(text.subarray(0, scanned));
  if (scanned === text.length) return pieces;
  const rest = text.subarray(scanned);
  pieces.push(rename.isKeeping ? rename.push(rest) : rest);
  return pieces;
}

const [QUOTE, COLON, BACKSLASH, OPEN] = [0x22, 0x3a, 0x5c, 0x7b];
const BRACES: ReadonlySet<number> = new Set([OPEN, 0x7d, 0x5b, 0x5d]);

/**
 * Finds the value where most engines write it, which costs less than a scanner: the key occurs once, no brace is between
 * it and the one that begins the text, and its value is a string without escapes. Undefined for any other text.
 */
function plainValue(text: Buffer, key: number): { start: number; end: number } | undefined {
  if (text[0] !== OPEN || text.indexOf(KEY) !== key) return undefined;
  for (let at = 1; at < key; at += 1) if (BRACES.has(text[at] as number)) return undefined;
  const colon = pastSpace(text, key + KEY.length);
  // It is a value, such as that of `"object"`.
  if (text[colon] !== COLON) return undefined;
  const start = pastSpace(text, colon + 1);
  const end = text[start] === QUOTE ? text.indexOf(QUOTE, start + 1) : -1;
  if (end < 0 || end - start > MAX_VALUE_BYTES || text.subarray(start, end).includes(BACKSLASH)) return undefined;
  return { start, end: end + 1 };
}

function pastSpace(text: Buffer, from: number): number {
  let at = from;
  while (text[at] === 0x20 || text[at] === 0x0a || text[at] === 0x0d || text[at] === 0x09) at += 1;
  return at;
}
