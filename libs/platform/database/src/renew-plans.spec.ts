import { expect, it } from '@jest/globals';
import type { ClientBase } from 'pg';
import { renewPlans } from './tx.js';

/** A client that notes at what time, in seconds, it was asked for new plans. */
function watched(answer: () => Promise<unknown> = async () => undefined) {
  const seen: number[] = [];
  let now = 0;
  const client = { query: (text: string) => (seen.push(text === 'DISCARD PLANS' ? now : NaN), answer()) };
  const useAt = (second: number): void => {
    now = second;
    renewPlans(client as unknown as ClientBase, second * 1_000);
  };
  return { seen, useAt };
}

it('has the plans of a connection made anew after a second of use, and each time after twice as long, up to a minute', () => {
  const { seen, useAt } = watched();
  for (let second = 100; second <= 400; second += 0.5) useAt(second);
  expect(seen.map((second) => second - 100)).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243]);
});

it('asks once after a long rest, and nothing of a connection that nobody uses', () => {
  const { seen, useAt } = watched();
  for (const second of [0, 3_600, 3_600.1]) useAt(second);
  expect(seen).toEqual([3_600]);
});

it('counts for each connection by itself', () => {
  const [one, other] = [watched(), watched()];
  one.useAt(0);
  other.useAt(1.5);
  one.useAt(2);
  other.useAt(2);
  expect([one.seen, other.seen]).toEqual([[2], []]);
});

it('leaves a failure to what is sent behind it', async () => {
  const { useAt } = watched(() => Promise.reject(new Error('Connection terminated')));
  useAt(0);
  useAt(1);
  await new Promise((resolve) => setImmediate(resolve));
});
