import { expect, it } from '@jest/globals';
import { MassMisses } from './mass-misses.js';

function missesOf(missed: number, answered: number): MassMisses {
  const misses = new MassMisses();
  for (let at = 0; at < missed + answered; at += 1) misses.note('local', `ins_${at}`, at < missed);
  return misses;
}

it.each([
  [1, 0, false],
  [2, 0, false],
  [3, 0, true],
  [3, 2, true],
  [3, 3, false],
  [10, 11, false],
  [11, 10, true],
])(
  'if %d servers of a target miss their probes and %d answer, a delay of restarts is %s',
  (missed, answered, delays) => {
    const misses = missesOf(missed, answered);
    expect([misses.delaysRestart('local', 0), misses.delaysRestart('other', 0)]).toEqual([delays, false]);
    expect(misses.delaysRestart('local', 60)).toBe(false);
  },
);

it('the message counts those that are missed, until they answer or are gone', () => {
  const misses = missesOf(4, 1);
  const message = () => misses.explained('local', { state: 'unhealthy', message: 'no answer' }).message;
  expect(message()).toContain('no answer; 4 of 5 instances of target local miss their probes at the same time');
  misses.note('local', 'ins_0', false);
  expect(message()).toContain('3 of 5');
  misses.forget('local', 'ins_1');
  expect(message()).toBe('no answer');
});
