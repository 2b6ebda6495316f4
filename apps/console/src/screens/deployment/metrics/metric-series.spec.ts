import { describe, expect, it } from '@jest/globals';
import {
  attemptsOf,
  limitOf,
  metricValueOf,
  rateOf,
  seriesOf,
  gatePositionOf,
  statOf,
  timesOf,
  type MetricsPoint,
  type RevisionMetrics,
} from './metric-series.js';

const FROM = '2026-01-01T00:00:00.000Z';
const FIRST = Date.parse(FROM) / 1_000;
const point = (second: number, changed: object = {}) =>
  ({
    at: new Date((FIRST + second) * 1_000).toISOString(),
    seconds: 10,
    requests_per_s: 2,
    attempts: {
      ok: 18,
      client_error: 1,
      overloaded: 4,
      server_error: 1,
      connect_error: 0,
      abandoned: 2,
      cancelled: 0,
      retried: 0,
      overloaded_retried: 0,
    },
    error_rate: { rate: 0.05, samples: 20 },
    ttft_ms: { avg: 41, p50: 40, p90: 45, p95: 50, p99: 60, samples: 18 },
    ...changed,
  }) as MetricsPoint;
const revision = (...points: MetricsPoint[]) => ({ revision: 'chat-00001', points }) as RevisionMetrics;

describe('the times of a chart', () => {
  it('include every step, even the last one that has only begun', () =>
    expect(timesOf({ from: FROM, to: '2026-01-01T00:00:25.000Z', step_seconds: 10 })).toEqual([
      FIRST,
      FIRST + 10,
      FIRST + 20,
    ]));
  it('are never more than can be drawn', () =>
    expect(timesOf({ from: FROM, to: '2027-01-01T00:00:00.000Z', step_seconds: 1 })).toHaveLength(400));
});

describe('the values of a revision', () => {
  const times = [FIRST, FIRST + 10, FIRST + 20, FIRST + 30];
  it('have no latency if there was no request', () =>
    expect(seriesOf(revision(point(10)), times, ({ ttft_ms }) => ttft_ms.p95)).toEqual([null, 50, null, null]));
  it('count no attempts as a rate of zero, but only as far as the gateways have reported', () => {
    const until = new Date((FIRST + 30) * 1_000).toISOString();
    const rates = seriesOf(revision(point(10)), times, (one) => rateOf(one, 'all'), { value: 0, until });
    expect(rates).toEqual([0, 2, 0, null]);
  });
  it('count classes per second', () => {
    expect(rateOf(point(0), 'ok')).toBe(1.8);
    expect(rateOf(point(0), 'overloaded')).toBe(0.4);
    expect(rateOf(point(0), 'abandoned')).toBe(0.2);
  });
  it('count all attempts', () => expect(attemptsOf(point(0))).toBe(26));
});

describe('a gate', () => {
  const ttft = { name: 'ttft_ms', check: 'threshold', threshold: 45, min_samples: 10 };
  it('that is a guard allows a share of so much more than that of the baseline', () => {
    const guard = { name: 'client_error_rate', check: 'guard', max_difference: 0.05 };
    expect(limitOf(guard, 0.02)).toBeCloseTo(0.07);
    expect(limitOf(guard, null)).toBe(0.05);
  });
  it('uses the p95 of a time and the rate of errors if it names no statistic', () => {
    expect(statOf({ name: 'ttft_ms' })).toBe('p95');
    expect(statOf({ name: 'error_rate' })).toBe('rate');
    expect(metricValueOf(point(0), 'ttft_ms', 'p95')).toEqual({ value: 50, samples: 18 });
    expect(metricValueOf(point(0), 'error_rate', 'rate')).toEqual({ value: 0.05, samples: 20 });
    expect(metricValueOf(point(0), 'of a later api', 'p95')).toEqual({ value: null, samples: 0 });
  });
  it('allows its threshold, or the permitted regression from the baseline', () => {
    const regression = { check: 'regression', max_regression_percent: 10 };
    expect(limitOf(ttft, null)).toBe(45);
    expect(limitOf({ ...regression, name: 'ttft_ms' }, 100)).toBeCloseTo(110);
    expect(limitOf({ ...regression, name: 'output_tokens_per_s' }, 100)).toBeCloseTo(90);
    expect(limitOf({ ...regression, name: 'ttft_ms' }, null)).toBeNull();
  });
  it('returns the position of the candidate', () => {
    expect(gatePositionOf(ttft, { value: 50, samples: 18 }, 45)).toBe('beyond');
    expect(gatePositionOf(ttft, { value: 45, samples: 18 }, 45)).toBe('within');
    expect(gatePositionOf(ttft, { value: 50, samples: 9 }, 45)).toBe('too few samples');
    expect(gatePositionOf({ ...ttft, name: 'output_tokens_per_s' }, { value: 40, samples: 18 }, 45)).toBe('beyond');
  });
});
