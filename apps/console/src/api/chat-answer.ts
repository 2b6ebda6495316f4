import { messagesOf, SlipwayError } from '@slipway/sdk';
import { isObject, type JsonObject } from '../ui/text/json-shape.js';
import { chatFailure } from './chat-failure.js';

/** The page keeps at most this much of one answer; no one reads more. */
const MOST_CHARACTERS = 200_000;
/** The gateway cuts an answer that is silent for longer. */
const SILENCE_MS = 300_000;

export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
}

/** An answer as far as it has arrived. Times are of `performance.now()`. */
export interface ChatAnswer {
  text: string;
  reasoning: string;
  /** Pieces that contained text: about as many as tokens, if the engine does not count these. */
  pieces: number;
  firstAt?: number;
  lastAt?: number;
  finish_reason?: string;
  usage?: Usage;
  /** Whether its end arrived: without it, the answer may be incomplete. */
  isWhole: boolean;
}

export const emptyAnswer = (): ChatAnswer => ({ text: '', reasoning: '', pieces: 0, isWhole: false });

interface ReadOptions {
  signal?: AbortSignal;
  now?: () => number;
}

/**
 * Yields the answer of a streamed chat completion, again after each new piece.
 * @throws SlipwayError if the stream reports an error, is cut, silent, too long, or no stream at
 * all; the signal's reason if it is aborted
 */
export async function* answersOf(
  response: Response,
  { signal, now = () => performance.now() }: ReadOptions = {},
): AsyncGenerator<ChatAnswer, void, undefined> {
  let answer = emptyAnswer();
  for await (const { data } of messagesOf(response, { signal, silenceMs: SILENCE_MS })) {
    if (data.trim() === '[DONE]') {
      yield { ...answer, isWhole: true };
      return;
    }
    answer = withChunk(answer, chunkOf(data, response), now());
    yield answer;
    if (answer.text.length + answer.reasoning.length > MOST_CHARACTERS)
      throw new SlipwayError(`The response is longer than ${MOST_CHARACTERS} characters, the limit of this page.`, {
        code: 'answer_too_long',
        retryable: false,
      });
  }
  throw new SlipwayError('The response stream ended early. The response is incomplete.', {
    code: 'answer_cut',
    retryable: true,
  });
}

function chunkOf(data: string, response: Response): JsonObject {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch {
    chunk = undefined;
  }
  if (!isObject(chunk))
    throw new SlipwayError('The response stream contains data that is not part of a chat completion.', {
      code: 'unexpected_answer',
      retryable: false,
    });
  if (isObject(chunk.error)) throw chatFailure(chunk.error, response);
  return chunk;
}

function withChunk(answer: ChatAnswer, chunk: JsonObject, now: number): ChatAnswer {
  const choice = first(chunk.choices);
  const delta = isObject(choice?.delta) ? choice.delta : {};
  const text = textOf(delta.content);
  // Engines use different names for it.
  const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning);
  const hasText = text !== '' || reasoning !== '';
  return {
    ...answer,
    text: answer.text + text,
    reasoning: answer.reasoning + reasoning,
    pieces: answer.pieces + (hasText ? 1 : 0),
    ...(hasText && { firstAt: answer.firstAt ?? now, lastAt: now }),
    ...(typeof choice?.finish_reason === 'string' && { finish_reason: choice.finish_reason }),
    ...(isUsage(chunk.usage) && { usage: chunk.usage }),
  };
}

const first = (value: unknown): JsonObject | undefined =>
  Array.isArray(value) && isObject(value[0]) ? value[0] : undefined;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const isUsage = (value: unknown): value is Usage =>
  isObject(value) && Number.isInteger(value.prompt_tokens) && Number.isInteger(value.completion_tokens);
