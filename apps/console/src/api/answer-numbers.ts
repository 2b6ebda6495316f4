import type { ChatAnswer } from './chat-answer.js';

export interface AnswerNumbers {
  /** Milliseconds from the request to the first text. */
  ttft?: number;
  tokensPerSecond?: number;
  /** The engine counted no tokens, so pieces of the stream replace them. */
  isEstimate: boolean;
}

/**
 * The speed of an answer, measured in this browser. The wait was for the first
 * token, so the rate counts the tokens after it.
 */
export function numbersOf({ firstAt, lastAt, pieces, usage }: ChatAnswer, sentAt: number): AnswerNumbers {
  const isEstimate = usage === undefined;
  if (firstAt === undefined || lastAt === undefined) return { isEstimate };
  const tokens = (usage?.completion_tokens ?? pieces) - 1;
  const seconds = (lastAt - firstAt) / 1000;
  return {
    ttft: firstAt - sentAt,
    ...(tokens > 0 && seconds > 0 && { tokensPerSecond: tokens / seconds }),
    isEstimate,
  };
}
