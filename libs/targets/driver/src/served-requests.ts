import { parsedJson, type EngineService } from '@slipway/contracts';
import type { EngineAnswer } from './engine-call.js';

const QUESTION = 'Answer with the word ready.';
const MAX_TOKENS = 16;
type Judge = (body: unknown) => boolean;

/** One request for each service that an engine may offer, with the check of its answer. */
export const SERVED_REQUESTS: Record<EngineService, { path: string; body: object; wanted: string; isAnswer: Judge }> = {
  chat: {
    path: '/chat/completions',
    body: { messages: [{ role: 'user', content: QUESTION }], max_tokens: MAX_TOKENS },
    wanted: 'a chat completion',
    isAnswer: (body) => isObject(first(fieldOf(body, 'choices'))?.['message']),
  },
  completions: {
    path: '/completions',
    body: { prompt: QUESTION, max_tokens: MAX_TOKENS },
    wanted: 'a completion',
    isAnswer: (body) => typeof first(fieldOf(body, 'choices'))?.['text'] === 'string',
  },
  responses: {
    path: '/responses',
    body: { input: QUESTION, max_output_tokens: MAX_TOKENS },
    wanted: 'a response',
    isAnswer: (body) => Array.isArray(fieldOf(body, 'output')),
  },
  embeddings: {
    path: '/embeddings',
    body: { input: ['ready', 'not ready yet'] },
    wanted: 'a vector of numbers for each text, all of the same length',
    isAnswer: (body) => areVectors(fieldOf(body, 'data'), 2),
  },
  rerank: {
    path: '/rerank',
    body: { query: 'ready', documents: ['ready', 'not ready yet'] },
    wanted: 'a score for each document',
    isAnswer: (body) => areScores(Array.isArray(body) ? body : fieldOf(body, 'results'), 2),
  },
};

/** The service of an engine's first request: the one that most clients use. */
export function mainOf(serves: readonly EngineService[]): EngineService {
  const order = Object.keys(SERVED_REQUESTS) as EngineService[];
  return order.find((kind) => serves.includes(kind)) ?? 'chat';
}

/** The reasoning before an answer counts as text, because a short answer may consist of nothing else. */
export function hasText(message: Record<string, unknown>): boolean {
  return ['content', 'reasoning_content', 'reasoning'].some((field) => {
    const text = message[field];
    return typeof text === 'string' && text !== '';
  });
}

export function answerJson(answer: EngineAnswer): unknown {
  return parsedJson(answer.text);
}

/** A field by its own name, or by the path to it with dots between the names. */
export function fieldOf(body: unknown, field: string): unknown {
  if (!isObject(body)) return undefined;
  if (Object.hasOwn(body, field)) return body[field];
  return field
    .split('.')
    .reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), body);
}

function areVectors(data: unknown, count: number): boolean {
  if (!Array.isArray(data) || data.length !== count) return false;
  const vectors = data.map((one) => (one as { embedding?: unknown } | null)?.embedding);
  const length = Array.isArray(vectors[0]) ? vectors[0].length : 0;
  return (
    length > 0 &&
    vectors.every(
      (one) => Array.isArray(one) && one.length === length && one.every((value) => typeof value === 'number'),
    )
  );
}

function areScores(results: unknown, count: number): boolean {
  if (!Array.isArray(results) || results.length !== count) return false;
  return results.every(
    (one) => isObject(one) && [one['score'], one['relevance_score']].some((score) => typeof score === 'number'),
  );
}

export function first(list: unknown): Record<string, unknown> | undefined {
  const one: unknown = Array.isArray(list) ? list[0] : undefined;
  return isObject(one) ? one : undefined;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
