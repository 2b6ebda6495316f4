import type { FieldIssue } from '@slipway/platform-http';

export interface MetricsRange {
  from: Date;
  to: Date;
  stepSeconds: number;
}

/** The requested range; absent fields have defaults. */
export interface RangeRequest {
  from?: string;
  to?: string;
  step?: number;
}

export const MAX_RANGE_SECONDS = 3 * 3_600;
export const MAX_STEPS = 360;
const DEFAULT_SECONDS = 15 * 60;
const DEFAULT_MOST_STEPS = 120;
/** Step lengths in seconds that people usually choose. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120];

/**
 * Returns the range in whole steps. Steps start at multiples of their length, so that repeated requests see the same
 * steps. `from` moves back to the start of a step, and `to` moves to the end of a second, because seconds are stored.
 */
export function rangeOf({ from: since, to: until, step }: RangeRequest, now: Date): MetricsRange {
  const to = secondsOf(until ?? now, Math.ceil);
  const from = since === undefined ? to - DEFAULT_SECONDS : secondsOf(since, Math.floor);
  const stepSeconds = step ?? STEPS.find((one) => (to - from) / one <= DEFAULT_MOST_STEPS) ?? MAX_RANGE_SECONDS;
  return { from: dateOf(Math.floor(from / stepSeconds) * stepSeconds), to: dateOf(to), stepSeconds };
}

export function rangeIssues({ from, to, step }: RangeRequest, now: Date): FieldIssue[] {
  const end = secondsOf(to ?? now, Math.ceil);
  const seconds = from === undefined ? DEFAULT_SECONDS : end - secondsOf(from, Math.floor);
  if (seconds <= 0) return [{ field: 'from', code: 'order', message: 'from must be before to' }];
  if (seconds > MAX_RANGE_SECONDS)
    return [{ field: 'from', code: 'max', message: `from must be at most ${MAX_RANGE_SECONDS} seconds before to` }];
  if (step === undefined || seconds <= step * MAX_STEPS) return [];
  const least = Math.ceil(seconds / MAX_STEPS);
  return [
    { field: 'step', code: 'min', message: `step must be at least ${least} seconds for a range of ${seconds} seconds` },
  ];
}

function secondsOf(at: string | Date, round: (value: number) => number): number {
  return round(new Date(at).getTime() / 1_000);
}

function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000);
}
