import { jsonKeyOf, JsonRefused, JsonScanner, type JsonMember } from '@slipway/platform-bounds';
import { bodyTooDeep, invalidJson, invalidParameter } from '../gateway.errors.js';

/** Deeper than any tool's schema. An engine that walks its requests recursively is spared the rest. */
const MAX_DEPTH = 128;
/** Of a member that this gateway reads: names of models and of sessions are short. */
const MAX_VALUE_BYTES = 8 * 1024;
/** A longer name is none that anybody here asks for. */
const MAX_NAME_BYTES = 256;
const QUOTE = 0x22;

/** The members that decide where a request goes. */
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

/** A request's body: its text as the client sent it, where its outermost members stand, and the few that this gateway reads. */
export interface RequestBody {
  text: Buffer;
  members: readonly NamedMember[];
  fields: Readonly<Partial<Record<RoutingMember, unknown>>>;
}

/**
 * Takes a body piece by piece. Nothing but the members that are read is ever parsed: what `JSON.parse` makes of a body takes up to
 * twenty times its bytes, and stops everybody's requests while it works.
 */
export class BodyScan {
  private readonly scanner = new JsonScanner({ maxDepth: MAX_DEPTH });

  /** @throws GatewayError 400 */
  push(piece: Buffer): void {
    this.checked(() => this.scanner.push(piece));
  }

  /** @param text all pieces. @throws GatewayError 400 */
  end(text: Buffer): RequestBody {
    this.checked(() => this.scanner.end());
    const members: NamedMember[] = [];
    const fields: Partial<Record<RoutingMember, unknown>> = {};
    for (const { keyStart, keyEnd, valueStart, valueEnd } of this.scanner.members()) {
      const name = nameOf(text, keyStart, keyEnd);
      const member = { name, keyStart, keyEnd, valueStart, valueEnd };
      members.push(member);
      // Of two with one name the last counts, as for `JSON.parse`.
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
  // Too long for anything that means something here, and of another type than what does.
  return {};
}

/**
 * Sets and removes members of the body's top level and leaves every other byte as the client sent it: numbers beyond double
 * precision, key order and spelling survive, and a long conversation is copied instead of being written again. A member that stands
 * twice is changed twice, since parsers differ in which of the two they believe.
 * @param set new values, already JSON
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
    // The comma behind a member goes with it.
    if (!isKept(member)) cut(member.keyStart, (members[index + 1] as NamedMember).keyStart);
    else if (Object.hasOwn(set, member.name)) cut(member.valueStart, member.valueEnd, set[member.name]);
  });
  // Behind the last that stays the comma before the others goes with them.
  const last = members.at(-1);
  if (last && lastKept < members.length - 1)
    cut(members[lastKept]?.valueEnd ?? (members[0] as NamedMember).keyStart, last.valueEnd);
  if (pieces.length === 0) return text;
  pieces.push(text.subarray(copiedTo));
  return Buffer.concat(pieces);
}
