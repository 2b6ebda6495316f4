import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { DatabaseClock } from './database-clock.js';

const WALL = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
let clock: DatabaseClock;

beforeEach(() => {
  jest.useFakeTimers({ now: WALL });
  clock = new DatabaseClock();
});
afterEach(() => {
  jest.useRealTimers();
});

/** An answer that was under way for so long, and has the time that Postgres read in its middle. */
function answer(databaseMs: number, roundTripMs: number): number {
  const sentAt = performance.now();
  jest.advanceTimersByTime(roundTripMs);
  return clock.measure(databaseMs, sentAt);
}

it('is the wall clock of the start until Postgres is known', () => {
  expect([clock.now(), clock.isKnown]).toEqual([WALL, false]);
  jest.advanceTimersByTime(1_000);
  jest.setSystemTime(WALL + HOUR_MS);
  expect(clock.now()).toBe(WALL + 1_000);
});

it('is the clock of Postgres from the first answer, with half of the round trip', () => {
  expect(answer(WALL + HOUR_MS, 200)).toBe(HOUR_MS - 100);
  expect([clock.now(), clock.isKnown]).toEqual([WALL + HOUR_MS + 100, true]);
  jest.advanceTimersByTime(1_000);
  jest.setSystemTime(0);
  expect(clock.now()).toBe(WALL + HOUR_MS + 1_100);
});

it('is not moved by a slower answer that does not contradict it, and is by one that does', () => {
  answer(WALL + HOUR_MS, 2);
  const shown = clock.now();
  expect(answer(shown + 1_900, 2_000)).toBe(0);
  expect(clock.now()).toBe(shown + 2_000);
  expect(answer(shown, 10)).toBe(0);
  expect(clock.now()).toBe(shown + 5);
});

it('converts moments of this process to times of Postgres and back', () => {
  answer(WALL - HOUR_MS, 0);
  const at = performance.now() + 70;
  expect(clock.at(at)).toBe(WALL - HOUR_MS + 70);
  expect(clock.monotonic(clock.at(at))).toBe(at);
});
