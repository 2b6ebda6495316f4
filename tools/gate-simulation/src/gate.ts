import { judge, overall, type MetricResult, type GateVerdict } from '@slipway/area-rollouts/analysis';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';
import { soak, type SoakSettings } from './soak.js';

const LIMIT_PERCENT = 20;
const MIN_SAMPLES = 50;

const METRICS = [
  ['e2e_latency_ms', 'p95'],
  ['ttft_ms', 'p95'],
  ['error_rate', 'rate'],
].map(
  ([name, stat]) =>
    ({
      name,
      stat,
      check: 'regression',
      max_regression_percent: LIMIT_PERCENT,
      min_samples: MIN_SAMPLES,
      failure_limit: 0,
      dry_run: false,
    }) as AnalysisMetricDto,
);

export interface Outcome {
  verdict: GateVerdict;
  metrics: MetricResult[];
}

/** One soak and what the gate says of it. @param looks planned over the rollout that the soak belongs to */
export async function runGate(settings: SoakSettings, looks = 1): Promise<Outcome> {
  const { candidate, baseline } = await soak(settings);
  const chances = { looks, metrics: METRICS.length };
  const metrics = METRICS.map((metric) => judge(metric, candidate, baseline, chances));
  return { verdict: overall(metrics), metrics };
}
