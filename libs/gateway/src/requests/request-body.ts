import { jsonKeyOf, JsonRefused, JsonScanner, type JsonMember } from '@slipway/platform-bounds';
import { bodyTooDeep, invalidJson, invalidParameter } from '../gateway.errors.js';

/** Deeper than any tool's schema. It protects engines that walk requests recursively from deeper ones. */
const MAX_DEPTH = 128;
/** Most bytes of a member that this gateway reads: names of models and of sessions are short. */
const MAX_VALUE_BYTES = 8 * 1024;
/** No member that this gateway reads has a longer name. */
const MAX_NAME_BYTES = 256;
const QUOTE = 0x22;

/** The members that decide where a request is sent. */
type RoutingMember = 'model' | 'stream' | 'session_id' | 'prompt_cache_key' | 'user';
const ROUTING_MEMBERS: ReadonlySet<string> = new Set<RoutingMember>([
  'model',
  'stream',
  'session_id',
  'prompt_cache_key',
  'user',
]);

interface NamedMember extends JsonMember {
  name: string;
}

/** A request's body as the client sent it, the positions of its top-level members, and the members that are read. */
export interface RequestBody {
  text: Buffer;
  members: readonly NamedMember[];
  fields: Readonly<Partial<Record<RoutingMember, unknown>>>;
}

/**
 * Takes a body piece by piece. Only the members that are read are ever parsed: the result of `JSON.parse` takes up to
 * twenty times a body's bytes, and all other requests stop while it works.
 */
export class BodyScan {
  private readonly scanner = new JsonScanner({ maxDepth: MAX_DEPTH });

  /** @throws GatewayError 400 */
  push(piece: Buffer): void {
    this.checked(() => this.scanner.push(piece));
  }

  /** @param text all pieces joined. @throws GatewayError 400 */
  end(text: Buffer): RequestBody {
    this.checked(() => this.scanner.end());
    const members: NamedMember[] = [];
    const fields: Partial<Record<RoutingMember, unknown>> = {};
    for (const { keyStart, keyEnd, valueStart, valueEnd } of this.scanner.members()) {
      const name = nameOf(text, keyStart, keyEnd);
      const member = { name, keyStart, keyEnd, valueStart, valueEnd };
      members.push(member);
      // If two members have the same name, the last one counts, as with `JSON.parse`.
      if (isRoutingMember(name)) fields[name] = valueOf(text, member);
    }
    if (members.length === 0 && !isObject(text)) throw invalidJson();
    return { text, members, fields };
  }

  private checked(scan: () => void): void {
    try {
      scan();
    } catch (error) {
      if (!(error instanceof JsonRefused)) throw error;
      throw error.fault === 'too_deep' ? bodyTooDeep(MAX_DEPTH) : invalidJson();
    }
  }
}

function isRoutingMember(name: string): name is RoutingMember {
  return ROUTING_MEMBERS.has(name);
}

function nameOf(text: Buffer, keyStart: number, keyEnd: number): string {
  return keyEnd - keyStart > MAX_NAME_BYTES ? '' : jsonKeyOf(text, keyStart, keyEnd);
}

function isObject(text: Buffer): boolean {
  return text.toString('latin1', 0, Math.min(text.length, 1_024)).trimStart().startsWith('{');
}

function valueOf(text: Buffer, { name, valueStart, valueEnd }: NamedMember): unknown {
  if (valueEnd - valueStart <= MAX_VALUE_BYTES) return JSON.parse(text.toString('utf8', valueStart, valueEnd));
  if (text[valueStart] === QUOTE) throw invalidParameter(name, `at most ${MAX_VALUE_BYTES} bytes`);
  // Too long for any valid value, and of the wrong type.
  return {};
}

/**
 * Sets and removes top-level members and leaves every other byte as the client sent it. Numbers beyond double
 * precision, the order of keys and their spelling survive, and a long conversation is copied instead of serialized
 * again. A member that occurs twice is changed twice, because parsers differ in which of the two they use.
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
