import { jsonKeyOf, JsonScanner, type JsonMember } from '@slipway/platform-bounds';
import { ambiguousParameter, invalidParameter, operatorsParameter, repeatedParameter } from '../gateway.errors.js';

/** A member of a body, with its name after escapes are resolved. */
export interface NamedMember extends JsonMember {
  name: string;
}

/** Deeper than any tool's schema. It protects engines that walk requests recursively from deeper ones. */
export const MAX_DEPTH = 128;
/** Most bytes of a member that is parsed: names, numbers and options are short. */
const MAX_VALUE_BYTES = 8 * 1024;
/** No member that this gateway reads has a longer name, even if each of its letters is an escaped pair. */
const MAX_NAME_BYTES = 512;
/** An engine compiles a grammar before it generates a token, and the time may grow with the square of its length. */
const MAX_GRAMMAR_BYTES = 64 * 1024;
/** Regular expressions become automata that may be exponentially larger. */
const MAX_EXPRESSION_BYTES = 4 * 1024;
const QUOTE = 0x22;
/** Clients send the same few names, and folding one costs more than the rest of its check. */
const FOLDED_NAMES = new Map<string, string>();
const MAX_FOLDED_NAMES = 1_000;
/** The `stream_options` of almost every client. They need no further check. */
const USUAL_OPTIONS = /^\{\s*"include_usage"\s*:\s*(?:true|false)\s*\}$/;

/** Members of a grammar that are regular expressions. */
const EXPRESSION_NAME = /^(?:regex|pattern)$/i;

/** How a member is checked. Without a check, only its name is reserved. */
type MemberCheck = (text: Buffer, member: NamedMember) => void;

const anything: MemberCheck = () => undefined;
const answers = countFrom(1, 16);
const probabilities = countFrom(0, 20);
const grammar: MemberCheck = (text, member) => {
  assertLength(member, MAX_GRAMMAR_BYTES);
  if (hasLongExpression(parsed(text, member)))
    throw invalidParameter(member.name, `regular expressions of at most ${MAX_EXPRESSION_BYTES} bytes`);
};
const operators: MemberCheck = (_text, member) => {
  throw operatorsParameter(member.name);
};
const expression: MemberCheck = (_text, member) => assertLength(member, MAX_EXPRESSION_BYTES);

/**
 * Every member of a body that the gateway reads, writes, removes, limits or refuses. A body has each of them at most once, and
 * no member that a reader with looser rules would take for one of them: otherwise an engine could read a value that
 * the gateway has not checked or replaced, such as the name of another model.
 */
const CONTROLLED: ReadonlyMap<string, MemberCheck> = new Map([
  ...['model', 'stream', 'session_id', 'prompt_cache_key', 'user'].map((name) => [name, anything] as const),
  ['cache_salt', checkSalt] as const,
  ['stream_options', checkStreamOptions] as const,
  // llama.cpp reads `n_cmpl` before `n`, and `n_probs` before `top_logprobs`.
  ...['n', 'n_cmpl', 'best_of'].map((name) => [name, answers] as const),
  ...['logprobs', 'top_logprobs', 'prompt_logprobs', 'n_probs'].map((name) => [name, probabilities] as const),
  ...[
    ...['response_format', 'structured_outputs', 'structural_tag', 'json_schema', 'grammar', 'ebnf'],
    ...['guided_json', 'guided_choice', 'guided_grammar'],
  ].map((name) => [name, grammar] as const),
  // LiteLLM, OpenRouter and other servers in front of engines would answer with another model or server, or with a
  // credential of the client.
  ...[
    ...['models', 'model_list', 'fallbacks', 'context_window_fallbacks', 'custom_llm_provider'],
    ...['api_base', 'base_url', 'api_key', 'user_config'],
  ].map((name) => [name, operators] as const),
  ...['regex', 'guided_regex', 'guided_whitespace_pattern'].map((name) => [name, expression] as const),
]);
const NAME_BY_FOLDED = byFolded([...CONTROLLED.keys()]);
const OPTION_BY_FOLDED = byFolded(['include_usage']);

/**
 * Returns the members of a body with their names.
 * @throws GatewayError 400 for a member that breaks its rule
 */
export function checkedMembers(text: Buffer, found: readonly JsonMember[]): NamedMember[] {
  const members = namedMembers(text, found, NAME_BY_FOLDED);
  for (const member of members) CONTROLLED.get(member.name)?.(text, member);
  return members;
}

/** Returns the value of a short member. @throws GatewayError 400 for a long string */
export function valueOf(text: Buffer, member: NamedMember): unknown {
  if (member.valueEnd - member.valueStart <= MAX_VALUE_BYTES) return parsed(text, member);
  if (text[member.valueStart] === QUOTE) throw invalidParameter(member.name, `at most ${MAX_VALUE_BYTES} bytes`);
  // Too long for any valid value, and of the wrong type.
  return {};
}

/** @throws GatewayError 400 if a reserved name occurs twice, or in another spelling */
function namedMembers(
  text: Buffer,
  found: readonly JsonMember[],
  reserved: ReadonlyMap<string, string>,
): NamedMember[] {
  const members: NamedMember[] = [];
  for (const { keyStart, keyEnd, valueStart, valueEnd } of found) {
    const name = keyEnd - keyStart > MAX_NAME_BYTES ? '' : jsonKeyOf(text, keyStart, keyEnd);
    const meant = reserved.get(foldedName(name));
    if (meant !== undefined) {
      if (meant !== name) throw ambiguousParameter(name, meant);
      if (members.some((member) => member.name === name)) throw repeatedParameter(name);
    }
    members.push({ name, keyStart, keyEnd, valueStart, valueEnd });
  }
  return members;
}

/**
 * Returns what all names have in common that some reader treats as one. Go ignores case, and counts ſ as s and the
 * Kelvin sign as k; Java also counts ı as i; readers of Protocol Buffers accept `topLogprobs` for `top_logprobs`.
 */
export function foldedName(name: string): string {
  const known = FOLDED_NAMES.get(name);
  if (known !== undefined) return known;
  // Upper case first, because only that changes ſ and ı. The lower case of İ has a dot of its own.
  const folded = name
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .replace(/[_\-\s\u0307]/g, '');
  if (FOLDED_NAMES.size < MAX_FOLDED_NAMES) FOLDED_NAMES.set(name, folded);
  return folded;
}

function byFolded(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [foldedName(name), name]));
}

/**
 * `logprobs` of a chat is a boolean. A string is refused because some engines convert it, and a negative number because
 * it means "all" to vLLM.
 */
function countFrom(least: number, most: number): MemberCheck {
  return (text, member) => {
    const value = valueOf(text, member);
    if (value === null || (least === 0 && typeof value === 'boolean')) return;
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      throw invalidParameter(member.name, `a whole number from ${least} to ${most}`);
  };
}

function checkSalt(text: Buffer, member: NamedMember): void {
  const value = valueOf(text, member);
  if (value !== null && (typeof value !== 'string' || value === ''))
    throw invalidParameter(member.name, 'a string that is not empty');
}

function checkStreamOptions(text: Buffer, member: NamedMember): void {
  assertLength(member, MAX_VALUE_BYTES);
  const options = text.subarray(member.valueStart, member.valueEnd);
  const value = options.toString('latin1');
  if (value === 'null' || USUAL_OPTIONS.test(value)) return;
  if (!value.startsWith('{')) throw invalidParameter(member.name, 'an object');
  const scanner = new JsonScanner({ maxDepth: MAX_DEPTH });
  scanner.push(options);
  namedMembers(options, scanner.members(), OPTION_BY_FOLDED);
}

function assertLength({ name, valueStart, valueEnd }: NamedMember, mostBytes: number): void {
  if (valueEnd - valueStart > mostBytes) throw invalidParameter(name, `at most ${mostBytes} bytes`);
}

function hasLongExpression(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const isExpression = (value as { type?: unknown }).type === 'regex';
  return Object.entries(value).some(([name, inner]) =>
    typeof inner === 'string'
      ? (isExpression || EXPRESSION_NAME.test(name)) && Buffer.byteLength(inner) > MAX_EXPRESSION_BYTES
      : hasLongExpression(inner),
  );
}

function parsed(text: Buffer, { valueStart, valueEnd }: JsonMember): unknown {
  return JSON.parse(text.toString('utf8', valueStart, valueEnd));
}
