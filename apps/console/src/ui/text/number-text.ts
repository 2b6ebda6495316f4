import { isMetric, metricOf } from '@slipway/sdk';

/** Formats a number for people: with three significant digits. */
export function numberText(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1_000) return Math.round(value).toLocaleString('en');
  return Number(value.toPrecision(3)).toString();
}

/** A value with the ends of its interval. Too few samples have no upper end. */
export interface ValueInterval {
  value: number;
  low: number;
  high: number | null;
}

/** The number that is shown for a value of a metric, and its unit. */
function shownOf(metric: string, value: number | null | undefined): [number: string, unit: string] {
  if (value === null || value === undefined) return ['–', ''];
  // Three digits would turn an availability of 99.95 % into 100 %.
  if (metric.endsWith('_percent')) return [String(Number(value.toFixed(3))), ' %'];
  const unit = isMetric(metric) ? metricOf(metric).unit : undefined;
  return unit === 'share' ? [numberText(value * 100), ' %'] : [numberText(value), unit ? ` ${unit}` : ''];
}

/** `1,110 ms`, `0.5 %`. A metric of a later api has no unit. */
export const metricText = (metric: string, value: number | null | undefined): string => shownOf(metric, value).join('');

/** `120 to 198 ms`, `at least 120 ms` */
export function rangeText(metric: string, { low, high }: Pick<ValueInterval, 'low' | 'high'>): string {
  if (high === null) return `at least ${metricText(metric, low)}`;
  return `${shownOf(metric, low)[0]} to ${metricText(metric, high)}`;
}

const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6, useGrouping: false });

/** The price of an hour: `0.80 EUR/h`. Null means that the operator's file has none. */
export const hourlyText = (price: { amount: number; currency: string } | null): string =>
  price ? `${AMOUNT.format(price.amount)} ${price.currency}/h` : 'no price';

interface RunningCost {
  per_hour: { amount: number; currency: string } | null;
  devices: number;
  accelerator: string | null;
}

/** Formats the cost of a deployment: `0.80 EUR/h, 1 x nvidia-l4`. Without a price: `no price, 1 x nvidia-l4`. */
export const costText = ({ per_hour: price, devices, accelerator }: RunningCost): string =>
  `${hourlyText(price)}, ${devices} x ${accelerator ?? 'device'}`;
