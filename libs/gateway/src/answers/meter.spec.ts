import { expect, it } from '@jest/globals';
import { TokenClock, usageIn } from './meter.js';

const NONE = { tokensIn: null, tokensOut: null };

/** Returns the metering of an engine that needs 10 ms for a token and sends this many with each event. */
function metered(tokensOfEvent: number, isReported: boolean): ReturnType<TokenClock['read']> {
  const clock = new TokenClock();
  for (let token = tokensOfEvent; token <= 120; token += tokensOfEvent) clock.note(1, 1_000 + token * 10);
  return clock.read({ tokensIn: 3, tokensOut: isReported ? 120 : null });
}

it('measures the same time per token, however many tokens an event carries', () => {
  for (const size of [1, 2, 4, 8, 30]) expect([size, metered(size, true).itlMs]).toEqual([size, expect.closeTo(10, 6)]);
  expect(metered(1, false).itlMs).toBeCloseTo(10, 6);
});

it('measures the same time per token if the network joins events', () => {
  const clock = new TokenClock();
  for (let token = 5; token <= 100; token += 5) clock.note(5, token * 10);
  expect(clock.read(NONE).itlMs).toBeCloseTo(10, 6);
});

it('reports the first token, the longest gap and the number of events if the engine reports none', () => {
  const clock = new TokenClock();
  for (const at of [100, 110, 190, 200]) clock.note(1, at);
  expect(clock.read(NONE)).toEqual({ tokensIn: 0, tokensOut: 4, firstTokenAt: 100, itlMs: 100 / 3, longestGapMs: 80 });
});

it('reports no time per token if all tokens arrived together, or none arrived', () => {
  const clock = new TokenClock();
  expect(clock.read(NONE)).toMatchObject({ firstTokenAt: null, itlMs: null, longestGapMs: null, tokensOut: 0 });
  clock.note(3, 40);
  expect(clock.read(NONE)).toMatchObject({ firstTokenAt: 40, itlMs: null, longestGapMs: null, tokensOut: 3 });
});

const usage = { prompt_tokens: 9, completion_tokens: 40, total_tokens: 49 };
it.each([
  ['at the top', { choices: [], usage }],
  ['in a member of the server', { choices: [], usage: null, x_groq: { id: 'x', usage } }],
  ['in a choice', { choices: [{ delta: {}, usage }] }],
  ['with other names', { usage: { input_tokens: 9, output_tokens: 40 } }],
])('finds usage %s', (_where, value) => expect(usageIn(value)).toEqual({ tokensIn: 9, tokensOut: 40 }));

it.each([
  ['timings', { timings: { prompt_tokens: 1, prompt_n: 2 }, choices: [{ text: JSON.stringify({ usage }) }] }],
  ['counts that no model can have', { usage: { prompt_tokens: 1e20, completion_tokens: 123_456_789 } }],
  ['counts that are no numbers', { usage: { prompt_tokens: '9', completion_tokens: -1 } }],
  ['nothing', null],
])('does not take %s for usage', (_what, value) => expect(usageIn(value)).toBeUndefined());
