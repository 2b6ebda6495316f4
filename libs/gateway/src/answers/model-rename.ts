import { jsonKeyOf, JsonRefused, JsonScanner, type JsonMember } from '@slipway/platform-bounds';
import { upstreamFailed } from '../gateway.errors.js';

const MAX_DEPTH = 128;
/** Of a key of the answer's top level: a longer one is not `model`. */
const MAX_KEY_BYTES = 64;
/** Of the value: no name of a model, and no path, is longer. */
const MAX_VALUE_BYTES = 8 * 1024;
const NOTHING: Buffer = Buffer.alloc(0);
/** How any engine writes the key. Text inside of a string has its quotes escaped, so that this is not found there. */
const KEY = Buffer.from('"model"');
/** Bytes enough for the key and most names. */
const ENOUGH = 64;

/**
 * Puts the name that the client asked for instead of the value of the outermost `model` of a JSON text, while it arrives; engines write there
 * what they loaded, the path of a file. Every other byte stays where it is. Only the member itself is kept back. What
 * turns out to be no JSON is passed on from there: it has no members.
 */
export class ModelRename {
  private readonly scanner = new JsonScanner({ maxDepth: MAX_DEPTH });
  /** The beginning of a member that may be `model`. */
  private kept = NOTHING;
  /** Offset of its first byte, or else of the next one. */
  private keptAt = 0;
  private membersRead = 0;
  private isNoJson = false;

  /** @param name what stands there instead, already JSON */
  constructor(private readonly name: Buffer) {}

  /**
   * @returns what can be passed on
   * @throws GatewayError 502 for what no engine writes: a name of 8 KiB, a thousand members, a hundred levels
   */
  push(piece: Buffer): Buffer {
    const pieces = this.pieces(piece);
    return pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  }

  /** The same, not joined. */
  pieces(piece: Buffer): Buffer[] {
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
    this.kept = keptFrom === text.length ? NOTHING : text.subarray(keptFrom);
    if (this.kept.length > MAX_VALUE_BYTES) throw upstreamFailed();
    return out;
  }

  /** If the text ends while it keeps something, it was broken off in the middle of the member, and nothing is left to say. */
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
    // One whose beginning has been passed on was too long for it.
    if (keyStart < this.keptAt || keyEnd - keyStart > MAX_KEY_BYTES) return false;
    return jsonKeyOf(text, keyStart - this.keptAt, keyEnd - this.keptAt) === 'model';
  }
}

/**
 * The same for a text that is there as a whole, in pieces that its user joins. Scans it to the last key of that name, and mostly that is
 * at its beginning.
 */
export function renamed(text: Buffer, name: Buffer): Buffer[] {
  const last = text.lastIndexOf(KEY);
  if (last < 0) return [text];
  const rename = new ModelRename(name);
  const scanned = Math.min(text.length, last + ENOUGH);
  const pieces = rename.pieces(text.subarray(0, scanned));
  if (scanned === text.length) return pieces;
  const rest = text.subarray(scanned);
  pieces.push(rename.isKeeping ? rename.push(rest) : rest);
  return pieces;
}
