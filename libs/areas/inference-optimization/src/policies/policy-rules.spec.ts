import { describe, expect, it } from '@jest/globals';
import { METRIC_NAMES, METRICS } from '@slipway/contracts';
import { EFFICIENCY_METRICS } from '@slipway/ports/policies';
import {
  duplicateSlos,
  evidenceIssues,
  knobIssues,
  objectiveIssues,
  percentileIssues,
  sloIssues,
  statOf,
  windowIssues,
} from './policy-rules.js';

const codes = (issues: { field: string; code: string }[]): string[] =>
  issues.map(({ field, code }) => `${field} ${code}`);

describe('SLOs', () => {
  it('know their stat by the metric', () => {
    expect([
      statOf({ metric: 'error_rate' }),
      statOf({ metric: 'ttft_ms' }),
      statOf({ metric: 'ttft_ms', stat: 'avg' }),
    ]).toEqual(['rate', 'p95', 'avg']);
  });

  it.each([
    [{ metric: 'error_rate', threshold: 1 }, []],
    [{ metric: 'error_rate', threshold: 1.01 }, ['threshold max']],
    [{ metric: 'error_rate', stat: 'p95', threshold: 0.1 }, ['stat not_applicable']],
    [{ metric: 'ttft_ms', stat: 'rate', threshold: 500 }, ['stat not_applicable']],
    [{ metric: 'output_tokens_per_s', stat: 'p50', threshold: 500 }, []],
  ] as const)('%j has the issues %j', (slo, issues) => {
    expect(codes(sloIssues(slo))).toEqual(issues);
  });

  it('are unique for each metric and stat, whether the stat is written out or not', () => {
    const slos = [
      { metric: 'ttft_ms', threshold: 1 },
      { metric: 'ttft_ms', stat: 'p50', threshold: 1 },
      { metric: 'ttft_ms', stat: 'p95', threshold: 1 },
    ] as const;
    expect(codes(duplicateSlos(slos))).toEqual(['slos[2] unique']);
  });
});

describe('objectives', () => {
  it.each([...METRIC_NAMES, ...EFFICIENCY_METRICS])('of %s have one direction, the better one', (metric) => {
    const isHigherBetter = metric in METRICS && METRICS[metric as keyof typeof METRICS].better === 'higher';
    expect([
      codes(objectiveIssues({ metric, direction: 'minimize' })),
      codes(objectiveIssues({ metric, direction: 'maximize' })),
    ]).toEqual(isHigherBetter ? [['direction not_applicable'], []] : [[], ['direction not_applicable']]);
  });

  it('say which direction to use', () => {
    expect(objectiveIssues({ metric: 'output_tokens_per_s', direction: 'minimize' })[0]?.message).toBe(
      'output_tokens_per_s is better when higher; use maximize',
    );
    expect(objectiveIssues({ metric: 'cost_per_mtok', direction: 'maximize' })[0]?.message).toBe(
      'cost_per_mtok is better when lower; use minimize',
    );
  });
});

describe('knobs', () => {
  it.each(['scaling.min_replicas', '/scaling/min_replicas', 'runtime.args.*', 'scaling', 'max_num_seqs'])(
    '%s is a knob',
    (knob) => {
      expect(knobIssues([knob])).toEqual([]);
    },
  );

  it('with a path begin in the spec', () => {
    expect(codes(knobIssues(['a', 'weather.sun', '/x/y']))).toEqual([
      'allowed_knobs[1] unknown',
      'allowed_knobs[2] unknown',
    ]);
  });
});

describe('pairs of numbers', () => {
  it('are in order', () => {
    expect(codes(percentileIssues({ p50: 2, p95: 1 }))).toEqual(['p95 min']);
    expect([percentileIssues({ p50: 1, p95: 1 }), percentileIssues({ p95: 1 }), percentileIssues({})]).toEqual([
      [],
      [],
      [],
    ]);
    expect(codes(windowIssues({ start: '2026-01-01T01:00:00+02:00', end: '2025-12-31T23:00:00Z' }))).toEqual([
      'end order',
    ]);
    expect(windowIssues({ start: '2026-01-01T01:00:00+02:00', end: '2025-12-31T23:00:01Z' })).toEqual([]);
    expect(codes(evidenceIssues({ min_duration_seconds: 2, max_age_seconds: 1 }))).toEqual(['max_age_seconds min']);
  });
});
