import { expect, it } from '@jest/globals';
import { isWorthReporting } from './findings.js';

const now = new Date('2026-06-02T12:00:00Z');
const ago = (seconds: number): string => new Date(now.getTime() - seconds * 1_000).toISOString();

it('the autopilot reports something new at most once a window, and the same at most once a day', () => {
  expect(isWorthReporting(undefined, 'a', now, 60)).toBe(true);
  expect(isWorthReporting({ key: 'b', at: ago(59) }, 'a', now, 60)).toBe(false);
  expect(isWorthReporting({ key: 'b', at: ago(60) }, 'a', now, 60)).toBe(true);
  expect(isWorthReporting({ key: 'a', at: ago(86_399) }, 'a', now, 60)).toBe(false);
  expect(isWorthReporting({ key: 'a', at: ago(86_400) }, 'a', now, 60)).toBe(true);
  expect(isWorthReporting({ key: 'a', at: ago(86_400) }, 'a', now, 100_000)).toBe(false);
});
