import { expect, it } from '@jest/globals';
import type { Diagnosis, GoalDiagnosis } from '@slipway/diagnosis';
import { causesKey, isWorthReporting, keyOf } from './findings.js';

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

it('the autopilot reports only once that there is nothing to do', () => {
  expect(isWorthReporting(undefined, 'a', now, 60, true)).toBe(true);
  expect(isWorthReporting({ key: 'a', at: ago(999_999) }, 'a', now, 60, true)).toBe(false);
  expect(isWorthReporting({ key: 'b', at: ago(60) }, 'a', now, 60, true)).toBe(true);
});

const goal = (metric: string, cause: GoalDiagnosis['cause'], because?: GoalDiagnosis['because']) =>
  ({ goal: { metric, stat: 'p95', threshold: 1 }, cause, ...(because ? { because } : {}) }) as GoalDiagnosis;
const diagnosis = (...goals: GoalDiagnosis[]) => ({ goals }) as Diagnosis;
const base = { id: 'rev_1' };

it('thin evidence changes no cause', () => {
  const before = causesKey(base, diagnosis(goal('ttft_ms', 'intrinsic'), goal('itl_ms', 'met')));
  expect(before).toBe('rev_1|ttft_ms p95 intrinsic|itl_ms p95 met');
  const thin = diagnosis(goal('ttft_ms', 'unknown', 'confidence'), goal('itl_ms', 'unknown', 'never_seen'));
  expect(causesKey(base, thin, before)).toBe('rev_1|ttft_ms p95 intrinsic|itl_ms p95 unknown');
  expect(causesKey(base, thin)).toBe('rev_1|itl_ms p95 unknown');
  expect(causesKey({ id: 'rev_2' }, thin, before)).toBe('rev_2|itl_ms p95 unknown');
});

it('findings are equal by revision, reason and goals', () => {
  const goals = [goal('ttft_ms', 'load_dependent')];
  const missed = { kind: 'missed' as const, because: 'budget' as const, goals, message: 'x' };
  expect(keyOf(base, missed)).toBe(keyOf(base, { ...missed, message: 'y' }));
  expect(keyOf(base, missed)).not.toBe(keyOf(base, { ...missed, because: 'observe' }));
  expect(keyOf(base, missed)).not.toBe(keyOf({ id: 'rev_2' }, missed));
  expect(keyOf(base, { kind: 'quiet', because: 'met', message: 'z' })).toBe('rev_1|met');
});
