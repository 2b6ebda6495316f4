import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';

/** The checks of the gate that is simulated. */
export const METRICS = [
  ['e2e_latency_ms', 'p95'],
  ['ttft_ms', 'p95'],
  ['error_rate', 'rate'],
].map(
  ([name, stat]) =>
    ({
      name,
      stat,
      check: 'regression',
      max_regression_percent: 20,
      min_samples: 50,
      failure_limit: 0,
      dry_run: false,
    }) as AnalysisMetricDto,
);
