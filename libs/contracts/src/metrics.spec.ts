import { describe, expect, it } from '@jest/globals';
import { DISTRIBUTIONS, isBeyond, METRIC_NAMES, metricOf } from './metrics.js';

describe('a limit', () => {
  it.each(METRIC_NAMES)('of %s is exceeded only on the worse side, and not at the limit itself', (name) => {
    const isHigherBetter = name === 'output_tokens_per_s';
    expect([isBeyond(name, 9, 10), isBeyond(name, 10, 10), isBeyond(name, 11, 10)]).toEqual([
      isHigherBetter,
      false,
      !isHigherBetter,
    ]);
  });
});

it('every metric except the rates has a histogram, and each metric has its default statistic', () => {
  expect(METRIC_NAMES.filter((name) => !DISTRIBUTIONS.some((one) => one === name))).toEqual([
    'error_rate',
    'client_error_rate',
    'overloaded_rate',
    'abandoned_rate',
    'upstream_fault_rate',
  ]);
  for (const name of METRIC_NAMES) expect(metricOf(name).stats).toContain(metricOf(name).defaultStat);
});
