import { describe, expect, it } from '@jest/globals';
import { newFindings, readObject } from '@slipway/platform-http';
import {
  duplicateSlos,
  evidenceIssues,
  knobIssues,
  percentileIssues,
  sloIssues,
  statOf,
  windowIssues,
} from './policy-rules.js';
import { SetPolicyDto } from './policy.dto.js';

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

describe('a policy', () => {
  it('has all its defaults, also within a section that is sent in part', () => {
    const findings = newFindings();
    const policy = readObject(SetPolicyDto, { evidence: { min_samples: 10 } }, '', findings) as SetPolicyDto;
    expect(findings).toEqual({ mistyped: [], broken: [], unknown: [] });
    const empty = readObject(
      SetPolicyDto,
      { evidence: {}, experiment_budget: {}, reliability: {}, promotion: {} },
      '',
      findings,
    );
    expect(JSON.parse(JSON.stringify(empty))).toEqual(
      JSON.parse(JSON.stringify(readObject(SetPolicyDto, {}, '', findings))),
    );
    expect(policy.evidence).toEqual({
      min_samples: 10,
      min_duration_seconds: 1800,
      max_age_seconds: 604800,
      confidence: 0.95,
    });
  });
});
