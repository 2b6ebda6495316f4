import {
  bucketOf,
  emptyCounts,
  emptyHistogram,
  emptyLoads,
  histogramsOf,
  type Histogram,
  type RequestStats,
} from '@slipway/dataplane';
import type { PolicyContent } from '@slipway/ports/policies';
import type { RevisionSpec } from '@slipway/contracts';
import type { ProposalHistory, Situation } from '../src/rounds/evaluation.js';
import type { Telemetry } from '../src/rounds/slo-evidence.js';

type Sections = {
  [K in keyof PolicyContent]?: PolicyContent[K] extends unknown[] | string
    ? PolicyContent[K]
    : Partial<PolicyContent[K]>;
};

/** A policy with the defaults of the API. */
export function policyOf(sections: Sections): PolicyContent {
  return {
    mode: sections.mode ?? 'recommend',
    slos: sections.slos ?? [{ metric: 'e2e_latency_ms', stat: 'p95', threshold: 100 }],
    evidence: {
      min_samples: 50,
      min_duration_seconds: 1800,
      max_age_seconds: 604_800,
      confidence: 0.95,
      ...sections.evidence,
    },
    experiment_budget: { max_parallel: 1, max_traffic_percent: 5, period: 'month', ...sections.experiment_budget },
    reliability: {
      min_replicas: 1,
      spare_replicas: 0,
      right_size_after_seconds: 604_800,
      freeze_windows: [],
      ...sections.reliability,
    },
    promotion: {
      approvals_required: 1,
      prevent_self_approval: true,
      require_hosted_identity: false,
      max_step_percent: 25,
      cooldown_seconds: 86_400,
      plan_ttl_seconds: 604_800,
      min_gain_percent: 5,
      ...sections.promotion,
    },
  };
}

export function histogramOf(values: readonly number[]): Histogram {
  const histogram = emptyHistogram();
  for (const value of values) {
    histogram.n += 1;
    histogram.sum += value;
    histogram.sq += value * value;
    histogram.b[bucketOf(value)] = (histogram.b[bucketOf(value)] ?? 0) + 1;
  }
  return histogram;
}

export function statsOf(stats: Partial<Omit<RequestStats, 'counts'>> & { ok?: number; failed?: number }): RequestStats {
  const { ok = 0, failed = 0, ...rest } = stats;
  return {
    counts: { ...emptyCounts(), ok, server_error: failed },
    streamed: 0,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf(() => emptyHistogram()),
    loads: emptyLoads(),
    ...rest,
  };
}

export const NOW = new Date('2026-06-01T12:00:00Z');
export const SPEC: RevisionSpec = {
  model: { id: 'm' },
  runtime: { target: 'local', engine: 'sim', args: {}, env: {} },
  scaling: { min_replicas: 2 },
};

export function telemetryOf(stats: RequestStats, parts: number[] = Array.from({ length: 10 }, () => 10)): Telemetry {
  return { revisionId: 'rev_1', from: new Date(NOW.getTime() - 1_800_000), to: NOW, stats, parts };
}

/** An SLO of 100 ms at p95 that 200 answers of 300 ms miss, and nothing that forbids a proposal. */
export function situation(
  change: Partial<Omit<Situation, 'history'>> & { history?: Partial<ProposalHistory> } = {},
): Situation {
  const { history, ...rest } = change;
  return {
    now: NOW,
    policy: policyOf({}),
    spec: SPEC,
    telemetry: telemetryOf(statsOf({ ok: 200, e2e_latency_ms: histogramOf(Array.from({ length: 200 }, () => 300)) })),
    isChanging: false,
    history: { hasOpenPlan: false, lastProposedAt: null, proposedInPeriod: 0, gpuHoursInPeriod: 0, ...history },
    ...rest,
  };
}
