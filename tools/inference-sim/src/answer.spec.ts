import { expect, it } from '@jest/globals';
import { Answer, countTokens, durationMs, paced } from './answer.js';

it('streams exactly the text of a whole answer', () => {
  const answer = new Answer('vendor/"quoted"');
  for (const tokens of [1, 2, 40]) {
    const streamed = Array.from({ length: tokens }, (_, index) => JSON.parse(answer.token(index)) as string).join('');
    expect(streamed).toBe(answer.text(tokens));
    expect(streamed).toMatch(/^vendor\/"quoted"/);
  }
});

it('counts at least one token', () => {
  expect([0, 4, 5].map(countTokens)).toEqual([1, 1, 2]);
});

it('emits every token once, in order, and none before it is due', async () => {
  const begin = performance.now();
  const emitted: { from: number; to: number; atMs: number }[] = [];
  await paced(begin, { ttftMs: 20, itlMs: 4 }, 12, (from, to) => {
    emitted.push({ from, to, atMs: performance.now() - begin });
    return true;
  });
  expect(emitted[0]!.from).toBe(0);
  expect(emitted.at(-1)!.to).toBe(12);
  emitted.slice(1).forEach((piece, index) => expect(piece.from).toBe(emitted[index]!.to));
  for (const { to, atMs } of emitted)
    expect(atMs).toBeGreaterThanOrEqual(durationMs({ ttftMs: 20, itlMs: 4 }, to) - 0.01);
});

it('catches up at once if it is late, instead of adding the delay to the end', async () => {
  const ranges: number[][] = [];
  await paced(performance.now() - 1_000, { ttftMs: 10, itlMs: 10 }, 50, (from, to) => {
    ranges.push([from, to]);
    return true;
  });
  expect(ranges).toEqual([[0, 50]]);
});

it('stops when the reader has left', async () => {
  let calls = 0;
  await paced(performance.now(), { ttftMs: 0, itlMs: 1 }, 1_000, () => {
    calls += 1;
    return calls < 2;
  });
  expect(calls).toBe(2);
});
