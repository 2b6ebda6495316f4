import { describe, expect, it } from '@jest/globals';
import type { PolicyContent, Slo } from '@slipway/ports/policies';
import { histogramOf, NOW, policyOf, situation, SPEC, statsOf, telemetryOf } from '../../test/situations.js';
import { evaluate, type AutopilotFinding, type Situation } from './evaluation.js';

const repeat = (n: number, value: number): number[] => Array.from({ length: n }, () => value);
const of = (change: Parameters<typeof situation>[0]): AutopilotFinding => evaluate(situation(change));
const told = (finding: AutopilotFinding): string =>
  finding.kind === 'propose' ? 'propose' : `${finding.kind} ${finding.because}`;
const withPolicy = (sections: Parameters<typeof policyOf>[0], rest: Parameters<typeof situation>[0] = {}): string =>
  told(of({ ...rest, policy: policyOf(sections) }));

describe('a missed SLO', () => {
  it('leads to one more replica', () => {
    const finding = evaluate(situation());
    expect(finding).toMatchObject({
      kind: 'propose',
      results: [{ verdict: 'missed', n: 200 }],
      options: [
        {
          changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 2, value: 3 }],
          gpuHours: 0,
          risk: { level: 'low' },
          predictedImpact: { load_per_replica_percent: -33.333 },
        },
      ],
    });
  });

  it.each<[string, Slo, ReturnType<typeof statsOf>]>([
    ['errors', { metric: 'error_rate', stat: 'rate', threshold: 0.01 }, statsOf({ ok: 160, failed: 40 })],
    [
      'time to first token',
      { metric: 'ttft_ms', stat: 'p50', threshold: 50 },
      statsOf({ ok: 200, ttft_ms: histogramOf(repeat(200, 80)) }),
    ],
    [
      'gaps between tokens',
      { metric: 'itl_ms', stat: 'avg', threshold: 5 },
      statsOf({ ok: 200, streamed: 200, itl_ms: histogramOf(repeat(2000, 8)) }),
    ],
    [
      'throughput',
      { metric: 'output_tokens_per_s', stat: 'p50', threshold: 50 },
      statsOf({ ok: 200, output_tokens_per_s: histogramOf(repeat(200, 20)) }),
    ],
  ])('is recognised in %s', (_what, slo, stats) => {
    expect(withPolicy({ slos: [slo] }, { telemetry: telemetryOf(stats) })).toBe('propose');
  });

  it('leads to no proposal while something forbids it, and the reason is reported if it is news', () => {
    expect(withPolicy({ mode: 'observe' })).toBe('missed observe');
    expect(
      withPolicy({ reliability: { freeze_windows: [{ start: '2026-06-01T00:00:00Z', end: '2026-06-02T00:00:00Z' }] } }),
    ).toBe('missed freeze_window');
    expect(
      withPolicy({ reliability: { freeze_windows: [{ start: '2026-05-31T00:00:00Z', end: NOW.toISOString() }] } }),
    ).toBe('propose');
    expect(told(of({ history: { hasOpenPlan: true } }))).toBe('quiet open_plan');
    expect(told(of({ isChanging: true }))).toBe('quiet operation_in_progress');
    const hour = 3_600_000;
    expect(told(of({ history: { lastProposedAt: new Date(NOW.getTime() - 23 * hour) } }))).toBe('quiet cooldown');
    expect(told(of({ history: { lastProposedAt: new Date(NOW.getTime() - 24 * hour) } }))).toBe('propose');
  });

  it('leads only to proposals within the budget', () => {
    const gpus = { ...SPEC, resources: { accelerator: 'l4', count: 2 } };
    expect(withPolicy({ experiment_budget: { max_experiments: 0 } })).toBe('missed budget');
    expect(withPolicy({ experiment_budget: { max_experiments: 3 } }, { history: { proposedInPeriod: 2 } })).toBe(
      'propose',
    );
    expect(withPolicy({ experiment_budget: { max_experiments: 3 } }, { history: { proposedInPeriod: 3 } })).toBe(
      'missed budget',
    );
    expect(withPolicy({ experiment_budget: { max_cost: { amount: 0, currency: 'EUR' } } })).toBe('missed budget');
    expect(withPolicy({ experiment_budget: { max_gpu_hours: 0 } })).toBe('propose');
    expect(withPolicy({ experiment_budget: { max_gpu_hours: 48, period: 'day' } }, { spec: gpus })).toBe('propose');
    expect(withPolicy({ experiment_budget: { max_gpu_hours: 47, period: 'day' } }, { spec: gpus })).toBe(
      'missed budget',
    );
    expect(
      withPolicy(
        { experiment_budget: { max_gpu_hours: 90, period: 'day' } },
        { spec: gpus, history: { gpuHoursInPeriod: 48 } },
      ),
    ).toBe('missed budget');
  });

  it('leads only to allowed changes of known settings', () => {
    const pathsOf = (
      allowed_knobs: string[] | undefined,
      spec = SPEC,
      sections: Partial<PolicyContent> = {},
    ): string[] => {
      const finding = of({ spec, policy: policyOf({ ...sections, experiment_budget: { allowed_knobs } }) });
      return finding.kind === 'propose'
        ? finding.options.map((option) => `${option.changes[0]?.path} ${option.changes[0]?.value}`)
        : [told(finding)];
    };
    const tuned = { ...SPEC, runtime: { ...SPEC.runtime, args: { max_num_seqs: 64, temperature: 1 } } };
    expect(pathsOf(undefined, tuned)).toEqual(['/scaling/min_replicas 3']);
    expect(pathsOf([])).toEqual(['missed no_allowed_knob']);
    expect(pathsOf(['runtime.args'], tuned)).toEqual(['/runtime/args/max_num_seqs 48']);
    expect(pathsOf(['temperature'], tuned)).toEqual(['missed no_allowed_knob']);
    expect(pathsOf(['max_num_seqs', 'scaling'], tuned)).toEqual([
      '/scaling/min_replicas 3',
      '/runtime/args/max_num_seqs 48',
    ]);
    expect(pathsOf(['scaling'], { ...SPEC, scaling: { min_replicas: 2, max_replicas: 2 } })).toEqual([
      'missed no_allowed_knob',
    ]);
  });

  it('raises the batch for throughput, and leaves it alone if SLOs pull both ways', () => {
    const spec = { ...SPEC, runtime: { ...SPEC.runtime, args: { max_num_seqs: 64 } } };
    const slow: Slo = { metric: 'output_tokens_per_s', stat: 'p50', threshold: 50 };
    const stats = statsOf({
      ok: 200,
      output_tokens_per_s: histogramOf(repeat(200, 20)),
      e2e_latency_ms: histogramOf(repeat(200, 300)),
    });
    const look = (slos: Slo[]): AutopilotFinding =>
      of({
        spec,
        telemetry: telemetryOf(stats),
        policy: policyOf({ slos, experiment_budget: { allowed_knobs: ['max_num_seqs'] } }),
      });
    expect(look([slow])).toMatchObject({ kind: 'propose', options: [{ changes: [{ value: 80 }] }] });
    expect(told(look([slow, { metric: 'e2e_latency_ms', stat: 'p95', threshold: 100 }]))).toBe(
      'missed no_allowed_knob',
    );
  });
});

describe('thin evidence', () => {
  const slow = (n: number): Situation['telemetry'] =>
    telemetryOf(statsOf({ ok: n, e2e_latency_ms: histogramOf(repeat(n, 300)) }));

  it('leads to no proposal: too few samples, too short a time, too uncertain, or no gateway reports', () => {
    expect(told(of({ telemetry: slow(49) }))).toBe('insufficient samples');
    expect(told(of({ telemetry: slow(0) }))).toBe('insufficient samples');
    expect(
      told(
        of({
          telemetry: telemetryOf(
            statsOf({ ok: 200, e2e_latency_ms: histogramOf(repeat(200, 300)) }),
            [0, 0, 0, 0, 20, 20, 20, 20, 20, 20],
          ),
        }),
      ),
    ).toBe('insufficient duration');
    expect(told(of({ telemetry: undefined }))).toBe('insufficient no_gateway');
    expect(withPolicy({ evidence: { min_duration_seconds: 400_000 } })).toBe('insufficient not_recorded_so_long');
    // 4 of 60 fail, and 5 % may: that can be chance.
    const slo: Slo = { metric: 'error_rate', stat: 'rate', threshold: 0.05 };
    expect(withPolicy({ slos: [slo] }, { telemetry: telemetryOf(statsOf({ ok: 56, failed: 4 })) })).toBe(
      'insufficient confidence',
    );
    expect(
      withPolicy(
        { slos: [slo], evidence: { confidence: 0.5 } },
        { telemetry: telemetryOf(statsOf({ ok: 56, failed: 4 })) },
      ),
    ).toBe('propose');
  });

  it('for one SLO does not hide that another is missed', () => {
    const slos: Slo[] = [
      { metric: 'ttft_ms', stat: 'p95', threshold: 1 },
      { metric: 'e2e_latency_ms', stat: 'p95', threshold: 100 },
    ];
    expect(of({ policy: policyOf({ slos }) })).toMatchObject({ kind: 'propose', results: [{ slo: slos[1] }] });
  });
});

describe('silence', () => {
  it('is kept if every SLO is met, there is none, or the mode is off', () => {
    expect(withPolicy({ slos: [{ metric: 'e2e_latency_ms', stat: 'p95', threshold: 1000 }] })).toBe('quiet met');
    expect(withPolicy({ slos: [] })).toBe('quiet no_slos');
    expect(withPolicy({ mode: 'off' })).toBe('quiet off');
  });
});
