import { describe, expect, it } from '@jest/globals';
import { costText, metricText, numberText, rangeText } from './number-text.js';

describe('numbers', () => {
  it.each([
    [0, '0'],
    [0.012345, '0.0123'],
    [41.26, '41.3'],
    [1234.5, '1,235'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('%p is %s', (value, text) => expect(numberText(value)).toBe(text));
});

describe('values of metrics', () => {
  it.each<[string, number | null, string]>([
    ['ttft_ms', 1110, '1,110 ms'],
    ['error_rate', 0.005, '0.5 %'],
    ['output_tokens_per_s', 41.26, '41.3 tokens/s'],
    ['availability_percent', 99.95, '99.95 %'],
    ['metric_of_a_later_api', 7, '7'],
    ['ttft_ms', null, '–'],
  ])('%s: %p is %s', (metric, value, text) => expect(metricText(metric, value)).toBe(text));

  it('have an interval, which may have no upper end', () => {
    expect(rangeText('ttft_ms', { low: 95, high: 1180 })).toBe('95 to 1,180 ms');
    expect(rangeText('error_rate', { low: 0.005, high: 0.02 })).toBe('0.5 to 2 %');
    expect(rangeText('ttft_ms', { low: 95, high: null })).toBe('at least 95 ms');
  });
});

it.each([
  [{ per_hour: { amount: 0.8, currency: 'EUR' }, devices: 1, accelerator: 'nvidia-l4' }, '0.80 EUR/h, 1 x nvidia-l4'],
  [{ per_hour: { amount: 1234.0075, currency: 'USD' }, devices: 9, accelerator: 'h100' }, '1234.0075 USD/h, 9 x h100'],
  [{ per_hour: null, devices: 2, accelerator: 'nvidia-l4' }, 'no price, 2 x nvidia-l4'],
  [{ per_hour: null, devices: 2, accelerator: null }, 'no price, 2 x device'],
])('formats the cost %j as %s', (cost, text) => expect(costText(cost)).toBe(text));
