import type { AnswerOf } from '@slipway/sdk';

type SparklineMetrics = Pick<AnswerOf<'getDeploymentMetrics'>, 'from' | 'to' | 'step_seconds'> & {
  data: {
    points: Pick<AnswerOf<'getDeploymentMetrics'>['data'][number]['points'][number], 'at' | 'requests_per_s'>[];
  }[];
};

/** For a line that is a few centimetres long. */
const MOST_POINTS = 120;

/** Returns the requests per second of all revisions together, one value for each step: zero if none ended. */
export function ratesOf({ from, to, step_seconds, data }: SparklineMetrics): number[] {
  const begin = Date.parse(from);
  const step = step_seconds * 1000;
  const count = Math.min(MOST_POINTS, Math.ceil((Date.parse(to) - begin) / step));
  if (!(count > 0)) return [];
  const rates = new Array<number>(count).fill(0);
  for (const { at, requests_per_s } of data.flatMap(({ points }) => points)) {
    const index = Math.floor((Date.parse(at) - begin) / step);
    if (rates[index] !== undefined) rates[index] += requests_per_s;
  }
  return rates;
}

/** Returns the line through the rates, for a box of this size with a margin for the width of the line. */
export function lineThrough(rates: readonly number[], width: number, height: number): string {
  const most = Math.max(...rates, Number.MIN_VALUE);
  const across = (width - 2) / Math.max(1, rates.length - 1);
  return rates
    .map(
      (rate, index) => `${(1 + index * across).toFixed(1)},${(height - 1 - (rate / most) * (height - 2)).toFixed(1)}`,
    )
    .join(' ');
}

/** `0.2/s`, `12/s`. */
export const rateText = (rate: number): string => `${rate >= 10 ? Math.round(rate) : Number(rate.toFixed(1))}/s`;
