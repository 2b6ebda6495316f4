/** Without earlier plans to learn from: 25 % on the logarithmic scale. */
export const UNCALIBRATED = 0.25;
export const LEAST_SCORES = 9;
/** A value that differs by less than this from the one before is too easy to predict to count. */
const MOVED = 0.2;

/** How wide the interval of a prediction is on the logarithmic scale, and the number of plans that decided it. */
export interface Calibration {
  width: number;
  /** 0 if there are too few plans. */
  calibratedOn: number;
}

/**
 * Split conformal prediction: the quantile of the errors of earlier plans, at the level of the intervals. If the next
 * error is as likely to have any rank among them, the interval contains the next value with at least this probability.
 * A level that needs a higher rank than there are plans has no such interval yet: then it is the widest that is known.
 * @param scores the largest |ln(achieved ÷ predicted)| of each plan
 * @param confidence one-sided; the level is 2 · confidence − 1
 */
export function calibrate(scores: readonly number[], confidence: number): Calibration {
  const sorted = [...scores].sort((a, b) => a - b);
  const rank = Math.max(1, Math.ceil((sorted.length + 1) * levelOf(confidence) - ROUNDING));
  const width = sorted[rank - 1];
  if (sorted.length < LEAST_SCORES || width === undefined)
    return { width: Math.max(UNCALIBRATED, sorted.length < LEAST_SCORES ? 0 : (sorted.at(-1) ?? 0)), calibratedOn: 0 };
  return { width, calibratedOn: sorted.length };
}

/** 2 · 0.95 − 1 is 0.8999999999999999, and 10 times another level may be a little more than a whole number. */
const ROUNDING = 1e-9;

/** @param confidence one-sided */
export function levelOf(confidence: number): number {
  return 2 * confidence - 1;
}

/** Whether the prediction, or what was achieved, differs from the value before by at least a fifth. */
export function hasMoved(now: number | null, predicted: number, achieved: number): boolean {
  if (now === null || now <= 0) return true;
  return [predicted, achieved].some((value) => Math.abs(value / now - 1) >= MOVED - ROUNDING);
}

/** A measured prediction of a plan. */
export interface MeasuredPrediction {
  planId: string;
  within: boolean;
  /** ln(achieved ÷ predicted) */
  logError: number;
  hasMoved: boolean;
}

export interface CalibrationSummary {
  /** Plans with a prediction that moved. */
  n: number;
  /** Share of them, in percent, whose every such prediction was inside its interval; null without plans. */
  coveragePercent: number | null;
  medianErrorPercent: number | null;
  /** How much more than predicted was achieved, on average; negative if less. */
  biasPercent: number | null;
}

/** Sums up predictions by plans: each counts once, with its largest error over the metrics that moved. */
export function summarize(predictions: readonly MeasuredPrediction[]): CalibrationSummary {
  const plans = new Map<string, { isWithin: boolean; logError: number }>();
  for (const { planId, within, logError, hasMoved: counts } of predictions) {
    if (!counts) continue;
    const plan = plans.get(planId);
    const isLarger = !plan || Math.abs(logError) > Math.abs(plan.logError);
    plans.set(planId, { isWithin: within && (plan?.isWithin ?? true), logError: isLarger ? logError : plan.logError });
  }
  const all = [...plans.values()];
  if (all.length === 0) return { n: 0, coveragePercent: null, medianErrorPercent: null, biasPercent: null };
  const errors = all.map(({ logError }) => Math.abs(logError)).sort((a, b) => a - b);
  const middle = ((errors[(errors.length - 1) >> 1] as number) + (errors[errors.length >> 1] as number)) / 2;
  return {
    n: all.length,
    coveragePercent: (all.filter(({ isWithin }) => isWithin).length / all.length) * 100,
    medianErrorPercent: Math.expm1(middle) * 100,
    biasPercent: Math.expm1(all.reduce((sum, { logError }) => sum + logError, 0) / all.length) * 100,
  };
}
