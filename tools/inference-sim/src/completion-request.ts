import { countTokens } from './answer.js';
import { invalidParameter, missingParameter } from './openai.errors.js';
import { isObject, type JsonObject } from './request-body.js';

/** The used parameters of a chat or text completion request; every other parameter is accepted and has no effect. */
export interface CompletionRequest {
  isStream: boolean;
  includeUsage: boolean;
  /** Tokens of each choice. */
  tokens: number;
  finishReason: 'stop' | 'length';
  choices: number;
  promptTokens: number;
}

export interface Prompts {
  number: number;
  tokens: number;
}

/** @throws ApiError 400 that names the parameter */
export function readCompletionRequest(body: JsonObject, prompts: Prompts, defaultTokens: number): CompletionRequest {
  const limit =
    wholeNumber(body, 'max_completion_tokens', 1, 2 ** 31) ?? wholeNumber(body, 'max_tokens', 1, 2 ** 31) ?? Infinity;
  const isStream = truth(body, 'stream');
  const options = body['stream_options'] ?? undefined;
  if (options !== undefined && !isStream)
    throw invalidParameter('stream_options', "this parameter only together with 'stream': true");
  if (options !== undefined && !isObject(options)) throw invalidParameter('stream_options', 'an object');
  return {
    isStream,
    includeUsage: options !== undefined && truth(options, 'include_usage', 'stream_options.'),
    tokens: Math.min(limit, defaultTokens),
    finishReason: limit < defaultTokens ? 'length' : 'stop',
    choices: prompts.number * (wholeNumber(body, 'n', 1, 128) ?? 1),
    promptTokens: prompts.tokens,
  };
}

/** Prompts of a chat: always one, over all its messages. */
export function readMessages(body: JsonObject): Prompts {
  const messages = body['messages'];
  if (messages === undefined) throw missingParameter('messages');
  if (!Array.isArray(messages) || messages.length === 0)
    throw invalidParameter('messages', 'an array with at least one message');
  let characters = 0;
  messages.forEach((message: unknown, index) => {
    if (!isObject(message)) throw invalidParameter(`messages[${index}]`, 'an object');
    if (typeof message['role'] !== 'string') throw missingParameter(`messages[${index}].role`);
    characters += contentLength(message['content'], `messages[${index}].content`);
  });
  return { number: 1, tokens: countTokens(characters) };
}

function contentLength(content: unknown, param: string): number {
  if (content === undefined || content === null) return 0; // a message of the assistant with tool calls has none
  if (typeof content === 'string') return content.length;
  if (!Array.isArray(content)) throw invalidParameter(param, 'a string or an array of parts');
  return content.reduce((sum: number, part: unknown) => {
    if (!isObject(part)) throw invalidParameter(param, 'parts that are objects');
    return sum + (typeof part['text'] === 'string' ? part['text'].length : 0);
  }, 0);
}

/**
 * The texts of `prompt` or `input`: a string, strings, tokens or arrays of tokens. Tokens are shown as numbers, so
 * equal input stays equal at no extra cost.
 */
export function readTexts(body: JsonObject, param: 'prompt' | 'input'): { texts: string[]; tokens: number } {
  const value = body[param];
  if (value === undefined) throw missingParameter(param);
  const items = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(items) || items.length === 0)
    throw invalidParameter(param, 'a string or an array that is not empty');
  if (isTokens(items)) return { texts: [items.join(' ')], tokens: items.length };

  let tokens = 0;
  const texts = items.map((item: unknown) => {
    if (typeof item === 'string') tokens += countTokens(item.length);
    else if (Array.isArray(item) && isTokens(item)) tokens += item.length;
    else throw invalidParameter(param, 'strings, tokens or arrays of tokens');
    return String(item);
  });
  return { texts, tokens };
}

function isTokens(items: unknown[]): items is number[] {
  return items.length > 0 && items.every((item) => Number.isInteger(item));
}

/** @returns undefined if absent or null, which the API treats alike */
export function wholeNumber(body: JsonObject, param: string, min: number, max: number): number | undefined {
  const value = body[param] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalidParameter(param, `a whole number from ${min} to ${max}`);
}

function truth(body: JsonObject, param: string, prefix = ''): boolean {
  const value = body[param] ?? false;
  if (typeof value !== 'boolean') throw invalidParameter(`${prefix}${param}`, 'true or false');
  return value;
}
