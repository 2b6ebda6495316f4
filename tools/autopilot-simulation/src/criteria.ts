import type { CycleOutcome, IdleOutcome, IntrinsicOutcome, SizingOutcome } from './cells.js';
import type { ExecutedPlan, WorseOutcome } from './learning.js';

/** One count or number of a cell, and whether it is within its limit. */
export interface Finding {
  what: string;
  /** With the number of seeds that it is out of, if it counts seeds. */
  value: number | null;
  of?: number;
  unit: 'seeds' | '%';
  limit: { kind: 'at least' | 'at most'; value: number } | null;
  isKept: boolean;
}

/** Shares of the seeds, and of the predicted value. */
const LEAST_NAMED = 0.9;
const LEAST_SIZED = 0.9;
const MOST_NEEDLESS = 0.075;
const MOST_ERROR = 0.15;
const LEAST_WITHIN = 0.86;
const MOST_HALF_WIDTH = 0.3;

export function intrinsicFindings(outcomes: readonly IntrinsicOutcome[]): Finding[] {
  return [atMost('plans to scale up', outcomes.filter(({ isScaledUp }) => isScaledUp).length, outcomes.length, 0)];
}

/** Of all intrinsic cases of one profile: a service that is always busy has low load by chance, so in few seeds. */
export function namedFindings(outcomes: readonly IntrinsicOutcome[]): Finding[] {
  const seen = outcomes.filter(({ isLowLoadSeen }) => isLowLoadSeen);
  const named = seen.filter(({ isNamed }) => isNamed).length;
  return [atLeast('named intrinsic, of those with low load', named, seen.length, LEAST_NAMED)];
}

export function sizingFindings(outcomes: readonly SizingOutcome[]): Finding[] {
  const right = outcomes.filter(({ isRight }) => isRight).length;
  const good = outcomes.filter(({ isRight, isMet }) => isRight && isMet).length;
  return [
    counted('right number', right, outcomes.length),
    atLeast('right number, and it meets the SLO', good, outcomes.length, LEAST_SIZED),
    percent('peak rate above the true one, median', median(outcomes.map(({ rateRatio }) => rateRatio)), 1),
  ];
}

/** Of all cells of one profile. */
export function predictionFindings(outcomes: readonly SizingOutcome[]): Finding[] {
  return [
    ...errorFindings(
      'of plans',
      outcomes.map(({ planError }) => planError),
    ),
    ...errorFindings(
      'of the true number',
      outcomes.map(({ trueError }) => trueError),
    ),
  ];
}

function errorFindings(whose: string, ratios: readonly (number | null)[]): Finding[] {
  const error = median(ratios.map((ratio) => ratio && Math.abs(ratio - 1)));
  const known = ratios.filter((ratio) => ratio !== null).length;
  return [
    percentAtMost(`absolute error ${whose}, median`, error, MOST_ERROR),
    percent(`achieved above predicted ${whose}, median`, median(ratios), 1),
    counted(`predictions ${whose}`, known, ratios.length),
  ];
}

export function idleFindings(outcomes: readonly IdleOutcome[]): Finding[] {
  const plans = outcomes.filter(({ proposed }) => proposed !== null).length;
  return [atMost('plans', plans, outcomes.length, MOST_NEEDLESS)];
}

export function cycleFindings(outcomes: readonly CycleOutcome[]): Finding[] {
  return [
    atMost('scaled down', outcomes.filter(({ isScaledDown }) => isScaledDown).length, outcomes.length, 0),
    atMost('down and up again', outcomes.filter(({ isCycle }) => isCycle).length, outcomes.length, 0),
  ];
}

/** Of the plans after those that were needed before the first calibration. */
export function learningFindings(plans: readonly ExecutedPlan[]): Finding[] {
  const moved = plans.filter(({ isWithin }) => isWithin !== null);
  const width = median(moved.map(({ halfWidth }) => halfWidth));
  return [
    atLeast('within the interval', moved.filter(({ isWithin }) => isWithin).length, moved.length, LEAST_WITHIN),
    percentAtMost('half of the interval, median', width, MOST_HALF_WIDTH),
    counted('moved by a fifth, at the assumed load', moved.length, plans.length),
  ];
}

export function worseFindings(outcomes: readonly WorseOutcome[]): Finding[] {
  const of = outcomes.length;
  const countOf = (isCounted: (one: WorseOutcome) => boolean): number => outcomes.filter(isCounted).length;
  return [
    atLeast(
      'revert plans within a window',
      countOf(({ isReverted }) => isReverted),
      of,
      1,
    ),
    atMost(
      'proposed again',
      countOf(({ isRepeated }) => isRepeated),
      of,
      0,
    ),
    atLeast(
      'proposed for another model',
      countOf((one) => one.isProposedForAnotherModel),
      of,
      LEAST_SIZED,
    ),
  ];
}

/** How often each text occurs, the most frequent first. */
export function tally(texts: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
}

function counted(what: string, value: number, of: number): Finding {
  return { what, value, of, unit: 'seeds', limit: null, isKept: true };
}

function atMost(what: string, value: number, of: number, share: number): Finding {
  const most = Math.floor(share * of);
  return { ...counted(what, value, of), limit: { kind: 'at most', value: most }, isKept: value <= most };
}

function atLeast(what: string, value: number, of: number, share: number): Finding {
  const least = Math.ceil(share * of);
  return { ...counted(what, value, of), limit: { kind: 'at least', value: least }, isKept: value >= least };
}

function percent(what: string, value: number | null, minus = 0): Finding {
  return { what, value: value === null ? null : 100 * (value - minus), unit: '%', limit: null, isKept: true };
}

/** Without a value, the limit is not kept. */
function percentAtMost(what: string, value: number | null, most: number): Finding {
  const isKept = value !== null && value <= most;
  return { ...percent(what, value), limit: { kind: 'at most', value: 100 * most }, isKept };
}

function median(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return ((low as number) + (high as number)) / 2;
}
