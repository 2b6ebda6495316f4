import { createHash } from 'node:crypto';

/**
 * Allow-lists for the answers of published products. A field that is not copied here by name reaches no client, so a
 * field that a supplier adds tomorrow discloses nothing. Ids are created anew, because their format identifies the
 * supplier.
 */
export interface Disguise {
  /** The name that the client sent as `model`. */
  slug: string;
  requestId: string;
}

type JsonObject = Record<string, unknown>;
type AnswerShape = (value: JsonObject, disguise: Disguise) => JsonObject;

const FINISH_REASONS = new Set(['stop', 'length', 'tool_calls', 'function_call', 'content_filter']);

export const chatCompletion: AnswerShape = (value, disguise) => ({
  ...envelope(value, disguise, 'chatcmpl', 'chat.completion'),
  choices: listOf(value['choices'], (choice) => ({
    index: numberOr(choice['index'], 0),
    message: message(choice['message'], disguise),
    logprobs: logprobs(choice['logprobs']),
    finish_reason: finishReason(choice['finish_reason']),
  })),
  ...usage(value['usage']),
});

export const chatCompletionChunk: AnswerShape = (value, disguise) => ({
  ...envelope(value, disguise, 'chatcmpl', 'chat.completion.chunk'),
  choices: listOf(value['choices'], (choice) => ({
    index: numberOr(choice['index'], 0),
    delta: message(choice['delta'], disguise),
    logprobs: logprobs(choice['logprobs']),
    finish_reason: finishReason(choice['finish_reason']),
  })),
  ...usage(value['usage']),
});

/** Also the shape of the chunks of a streamed text completion. */
export const textCompletion: AnswerShape = (value, disguise) => ({
  ...envelope(value, disguise, 'cmpl', 'text_completion'),
  choices: listOf(value['choices'], (choice) => ({
    index: numberOr(choice['index'], 0),
    text: stringOr(choice['text'], ''),
    logprobs: textLogprobs(choice['logprobs']),
    finish_reason: finishReason(choice['finish_reason']),
  })),
  ...usage(value['usage']),
});

export const embeddingList: AnswerShape = (value, disguise) => ({
  object: 'list',
  data: listOf(value['data'], (item) => ({
    object: 'embedding',
    index: numberOr(item['index'], 0),
    embedding: typeof item['embedding'] === 'string' ? item['embedding'] : numbersOf(item['embedding']),
  })),
  model: disguise.slug,
  ...usage(value['usage']),
});

function envelope(value: JsonObject, disguise: Disguise, prefix: string, object: string): JsonObject {
  const id = `${prefix}-${digest(disguise.requestId)}`;
  return { id, object, created: numberOr(value['created'], Math.floor(Date.now() / 1000)), model: disguise.slug };
}

/** Builds a message or a delta. Absent members stay absent: in a delta, `content: null` and no `content` differ. */
function message(value: unknown, disguise: Disguise): JsonObject {
  const from = objectOr(value);
  const to: JsonObject = {};
  if ('role' in from)
    to['role'] = ['assistant', 'tool', 'system', 'user'].includes(String(from['role'])) ? from['role'] : 'assistant';
  for (const text of ['content', 'refusal', 'reasoning_content', 'reasoning'])
    if (text in from) to[text] = stringOr(from[text], null);
  if ('tool_calls' in from) to['tool_calls'] = listOf(from['tool_calls'], (call) => toolCall(call, disguise));
  if ('function_call' in from) to['function_call'] = functionCall(from['function_call']);
  return to;
}

function toolCall(call: JsonObject, disguise: Disguise): JsonObject {
  const to: JsonObject = {};
  if ('index' in call) to['index'] = numberOr(call['index'], 0);
  // Salted with the request: equal ids in one answer stay equal, and nothing of the supplier's numbering remains.
  if (typeof call['id'] === 'string' && call['id'] !== '')
    to['id'] = `call_${digest(`${disguise.requestId}\0${call['id']}`)}`;
  if ('type' in call) to['type'] = 'function';
  if ('function' in call) to['function'] = functionCall(call['function']);
  return to;
}

function functionCall(value: unknown): JsonObject {
  const from = objectOr(value);
  const to: JsonObject = {};
  if ('name' in from) to['name'] = stringOr(from['name'], null);
  if ('arguments' in from) to['arguments'] = stringOr(from['arguments'], '');
  return to;
}

function logprobs(value: unknown): JsonObject | null {
  if (typeof value !== 'object' || value === null) return null;
  const from = value as JsonObject;
  const one = (token: JsonObject): JsonObject => ({
    token: stringOr(token['token'], ''),
    logprob: numberOr(token['logprob'], 0),
    bytes: Array.isArray(token['bytes']) ? numbersOf(token['bytes']) : null,
  });
  const list = (tokens: unknown): JsonObject[] | null =>
    Array.isArray(tokens)
      ? listOf(tokens, (token) => ({ ...one(token), top_logprobs: listOf(token['top_logprobs'], one) }))
      : null;
  return { content: list(from['content']), refusal: list(from['refusal']) };
}

function textLogprobs(value: unknown): JsonObject | null {
  if (typeof value !== 'object' || value === null) return null;
  const from = value as JsonObject;
  return {
    tokens: Array.isArray(from['tokens']) ? from['tokens'].filter((token) => typeof token === 'string') : [],
    token_logprobs: numbersOf(from['token_logprobs']),
    text_offset: numbersOf(from['text_offset']),
  };
}

function usage(value: unknown): { usage?: JsonObject | null } {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null) return { usage: null };
  const from = value as JsonObject;
  const to: JsonObject = {};
  for (const count of ['prompt_tokens', 'completion_tokens', 'total_tokens'])
    if (typeof from[count] === 'number') to[count] = from[count];
  return { usage: to };
}

function finishReason(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return FINISH_REASONS.has(String(value)) ? String(value) : 'stop';
}

function listOf(value: unknown, shape: (item: JsonObject) => JsonObject): JsonObject[] {
  return Array.isArray(value) ? value.map((item) => shape(objectOr(item))) : [];
}

function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((one): one is number => typeof one === 'number') : [];
}

function objectOr(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function stringOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === 'string' ? value : otherwise;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24);
}
