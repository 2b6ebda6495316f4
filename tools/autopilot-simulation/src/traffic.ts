import { exponential, logNormal } from '@slipway/gate-simulation/random';
import type { Profile } from './profiles.js';

/** The rate of the arrivals over time. Times are milliseconds of the virtual clock. */
export interface Course {
  /** Requests per second at the busiest time. */
  peak: number;
  /** The rate at the quietest time, as a share of the peak. */
  low: number;
  /** First, instances warm up at half of the peak, so that their slow first requests are not those of the quiet time. */
  warmUpMs: number;
  /** Then comes the quietest time, and after this time the busiest. */
  riseMs: number;
  /** From then on, the rate stays (`plateau`), or falls and rises as in days of twice the rise. */
  then: 'plateau' | 'days';
}

export function rateAt({ peak, low, warmUpMs, riseMs, then }: Course, now: number): number {
  const at = now - warmUpMs;
  if (at < 0) return peak / 2;
  if (riseMs === 0 || (then === 'plateau' && at >= riseMs)) return peak;
  return peak * (low + ((1 - low) * (1 - Math.cos((Math.PI * at) / riseMs))) / 2);
}

/** Poisson arrivals with a course. */
export class Arrivals {
  nextAt: number;

  constructor(
    private readonly random: () => number,
    private readonly course: Course,
    startAt = 0,
  ) {
    this.nextAt = startAt;
    this.advance();
  }

  /** Draws the time of the arrival after the next one. */
  advance(): void {
    const { peak } = this.course;
    do this.nextAt += exponential(this.random, 1_000 / peak);
    while (this.random() * peak >= rateAt(this.course, this.nextAt));
  }
}

export interface Lengths {
  inputTokens: number;
  outputTokens: number;
}

export function drawLengths(random: () => number, { constants }: Profile): Lengths {
  const draw = (kind: 'input' | 'output', least: number): number =>
    Math.max(least, Math.round(logNormal(random, constants[`${kind}-tokens`], constants[`${kind}-sigma`])));
  return { inputTokens: draw('input', 1), outputTokens: draw('output', 2) };
}
