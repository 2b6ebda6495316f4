import { expect, it } from '@jest/globals';
import { TakeoverPatience } from './server-observations.js';

it('bears fewer misses than the threshold of an instance it has never seen ready', () => {
  const patience = new TakeoverPatience();
  expect([1, 2, 3, 4].map(() => patience.bears('ins_1', 1, 3))).toEqual([true, true, false, false]);
  expect(patience.bears('ins_1', 2, 3)).toBe(true);
  expect(patience.bears('ins_2', 1, 1)).toBe(false);
});

it('leaves the count to the driver once the instance has answered', () => {
  const patience = new TakeoverPatience();
  expect(patience.bears('ins_1', 1, 3)).toBe(true);
  patience.noteReady('ins_1', 1);
  expect(patience.bears('ins_1', 1, 3)).toBe(false);
  patience.forget('ins_1');
  expect(patience.bears('ins_1', 1, 3)).toBe(true);
});
