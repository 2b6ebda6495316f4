import { expect, it } from '@jest/globals';
import { numbersOf } from './answer-numbers.js';
import { emptyAnswer } from './chat-answer.js';

const answer = { ...emptyAnswer(), pieces: 6, firstAt: 1_300, lastAt: 2_300 };

it('counts the tokens behind the first one, from when that was there', () =>
  expect(numbersOf({ ...answer, usage: { prompt_tokens: 9, completion_tokens: 11 } }, 1_000)).toEqual({
    ttft: 300,
    tokensPerSecond: 10,
    isEstimate: false,
  }));

it('takes pieces for tokens where nobody counted these, and says so', () =>
  expect(numbersOf(answer, 1_000)).toEqual({ ttft: 300, tokensPerSecond: 5, isEstimate: true }));

it('tells no rate of what came at once, and nothing of what has not come', () => {
  expect(numbersOf({ ...answer, lastAt: 1_300 }, 1_000)).toEqual({ ttft: 300, isEstimate: true });
  expect(numbersOf({ ...answer, pieces: 1 }, 1_000)).toEqual({ ttft: 300, isEstimate: true });
  expect(numbersOf(emptyAnswer(), 1_000)).toEqual({ isEstimate: true });
});
