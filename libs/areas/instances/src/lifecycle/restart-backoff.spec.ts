import { expect, it } from '@jest/globals';
import { backOff } from './failed-starts.js';

it('doubles from half a second to thirty', () => {
  let streak = 0;
  const waits = Array.from({ length: 9 }, () => {
    const next = backOff(streak, 3);
    streak = next.streak;
    return next.seconds;
  });
  expect(waits).toEqual([0.5, 1, 2, 4, 8, 16, 30, 30, 30]);
  expect(backOff(5_000, null).seconds).toBe(30);
});

it('begins again after a minute of being ready', () => {
  expect(backOff(6, 59.9)).toEqual({ streak: 7, seconds: 30 });
  expect(backOff(6, 60)).toEqual({ streak: 1, seconds: 0.5 });
  expect(backOff(6, null).streak).toBe(7);
});
