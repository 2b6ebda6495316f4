import { expect, it } from '@jest/globals';
import type { ClientBase } from 'pg';
import { renewPlans } from './tx.js';

/** A client that records the times, in seconds, at which it receives DISCARD PLANS. */
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

it('renews the plans of a connection after a second of use, then after twice as long each time, up to a minute', () => {
  const { seen, useAt } = watched();
  for (let second = 100; second <= 400; second += 0.5) useAt(second);
  expect(seen.map((second) => second - 100)).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243]);
});

it('renews once after a long pause, and never for an unused connection', () => {
  const { seen, useAt } = watched();
  for (const second of [0, 3_600, 3_600.1]) useAt(second);
  expect(seen).toEqual([3_600]);
});

it('counts separately for each connection', () => {
  const [one, other] = [watched(), watched()];
  one.useAt(0);
  other.useAt(1.5);
  one.useAt(2);
  other.useAt(2);
  expect([one.seen, other.seen]).toEqual([[2], []]);
});

it('leaves the report of a failure to the next statement', async () => {
  const { useAt } = watched(() => Promise.reject(new Error('Connection terminated')));
  useAt(0);
  useAt(1);
  await new Promise((resolve) => setImmediate(resolve));
});
