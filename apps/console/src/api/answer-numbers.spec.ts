import { expect, it } from '@jest/globals';
import { numbersOf } from './answer-numbers.js';
import { emptyAnswer } from './chat-answer.js';

const answer = { ...emptyAnswer(), pieces: 6, firstAt: 1_300, lastAt: 2_300 };

it('counts the tokens after the first one, from the time that the first one arrived', () =>
  expect(numbersOf({ ...answer, usage: { prompt_tokens: 9, completion_tokens: 11 } }, 1_000)).toEqual({
    ttft: 300,
    tokensPerSecond: 10,
    isEstimate: false,
  }));

it('counts pieces as tokens if the engine counted none, and marks the estimate', () =>
  expect(numbersOf(answer, 1_000)).toEqual({ ttft: 300, tokensPerSecond: 5, isEstimate: true }));

it('returns no rate for an answer that arrived at once, and nothing for an answer that has not arrived', () => {
  expect(numbersOf({ ...answer, lastAt: 1_300 }, 1_000)).toEqual({ ttft: 300, isEstimate: true });
  expect(numbersOf({ ...answer, pieces: 1 }, 1_000)).toEqual({ ttft: 300, isEstimate: true });
  expect(numbersOf(emptyAnswer(), 1_000)).toEqual({ isEstimate: true });
});
