import { isUtf8 } from 'node:buffer';
import { JsonRefused, JsonScanner } from '@slipway/platform-bounds';
import { bodyTooDeep, invalidJson, invalidText } from '../gateway.errors.js';
import { checkedMembers, MAX_DEPTH, valueOf, type NamedMember } from './body-rules.js';

/** Some clients write it before the text. JSON has none, and engines refuse it. */
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The members that the gateway reads. */
type ReadMember = 'model' | 'stream' | 'session_id' | 'prompt_cache_key' | 'user' | 'cache_salt';
const READ_MEMBERS: ReadonlySet<string> = new Set<ReadMember>([
  'model',
  'stream',
  'session_id',
  'prompt_cache_key',
  'user',
  'cache_salt',
]);

/**
 * A request's body as the client sent it without a byte order mark, the positions of its top-level members, and the
 * members that are read.
 */
export interface RequestBody {
  text: Buffer;
  members: readonly NamedMember[];
  fields: Readonly<Partial<Record<ReadMember, unknown>>>;
}

/**
 * Takes a body piece by piece. Only the members that are read or limited are ever parsed: the result of `JSON.parse`
 * takes up to twenty times a body's bytes, and all other requests stop while it works.
 */
export class BodyScan {
  private readonly scanner = new JsonScanner({ maxDepth: MAX_DEPTH, isUnicode: true });
  /** How many bytes of a byte order mark the body begins with. */
  private marks = 0;
  private hasBegun = false;

  /** @throws GatewayError 400 */
  push(piece: Buffer): void {
    const text = this.hasBegun ? piece : piece.subarray(this.markIn(piece));
    this.checked(() => this.scanner.push(text));
  }

  /** @param text all pieces joined. @throws GatewayError 400 */
  end(text: Buffer): RequestBody {
    this.checked(() => this.scanner.end());
    const unmarked = this.marks === 0 ? text : text.subarray(this.marks);
    if (!isUtf8(unmarked)) throw invalidText();
    const members = checkedMembers(unmarked, this.scanner.members());
    if (members.length === 0 && !isObject(unmarked)) throw invalidJson();
    const fields: Partial<Record<ReadMember, unknown>> = {};
    for (const member of members) if (isReadMember(member.name)) fields[member.name] = valueOf(unmarked, member);
    return { text: unmarked, members, fields };
  }

  /** Returns the bytes at the beginning that belong to a byte order mark. A piece may end within it. */
  private markIn(piece: Buffer): number {
    let at = 0;
    while (this.marks < BYTE_ORDER_MARK.length && piece[at] === BYTE_ORDER_MARK[this.marks]) {
      this.marks += 1;
      at += 1;
    }
    if (at === piece.length) return at;
    this.hasBegun = true;
    if (this.marks > 0 && this.marks < BYTE_ORDER_MARK.length) throw invalidJson();
    return at;
  }

  private checked(scan: () => void): void {
    try {
      scan();
    } catch (error) {
      if (!(error instanceof JsonRefused)) throw error;
      if (error.fault === 'lone_surrogate') throw invalidText();
      throw error.fault === 'too_deep' ? bodyTooDeep(MAX_DEPTH) : invalidJson();
    }
  }
}

function isReadMember(name: string): name is ReadMember {
  return READ_MEMBERS.has(name);
}

function isObject(text: Buffer): boolean {
  return text.toString('latin1', 0, Math.min(text.length, 1_024)).trimStart().startsWith('{');
}

/**
 * Sets and removes top-level members and leaves every other byte as the client sent it. Numbers beyond double
 * precision, the order of keys and their spelling survive, and a long conversation is copied instead of serialized
 * again.
 * @param set new values, already encoded as JSON
 */
export function editTopLevel(
  { text, members }: Pick<RequestBody, 'text' | 'members'>,
  set: Readonly<Record<string, string>>,
  remove: readonly string[],
): Buffer {
  const isKept = ({ name }: NamedMember): boolean => !remove.includes(name);
  const lastKept = members.findLastIndex(isKept);
  const pieces: Buffer[] = [];
  let copiedTo = 0;
  const cut = (from: number, to: number, instead = ''): void => {
    pieces.push(text.subarray(copiedTo, from), Buffer.from(instead, 'utf8'));
    copiedTo = to;
  };
  members.forEach((member, index) => {
    if (index > lastKept) return;
    // The comma after a member is removed with it.
    if (!isKept(member)) cut(member.keyStart, (members[index + 1] as NamedMember).keyStart);
    else if (Object.hasOwn(set, member.name)) cut(member.valueStart, member.valueEnd, set[member.name]);
  });
  // After the last kept member, the comma before the removed ones is removed with them.
  const last = members.at(-1);
  if (last && lastKept < members.length - 1)
    cut(members[lastKept]?.valueEnd ?? (members[0] as NamedMember).keyStart, last.valueEnd);
  if (pieces.length === 0) return text;
  pieces.push(text.subarray(copiedTo));
  return Buffer.concat(pieces);
}
