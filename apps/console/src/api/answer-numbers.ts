import type { ChatAnswer } from './chat-answer.js';

export interface AnswerNumbers {
  /** Milliseconds from the request to the first text. */
  ttft?: number;
  tokensPerSecond?: number;
  /** The engine counted no tokens: pieces of the stream stand for them. */
  isEstimate: boolean;
}

/** How fast an answer came, seen from this browser. The first token is what the wait was for: the rate is of those behind it. */
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
