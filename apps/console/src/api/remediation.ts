import type { Operation } from '@slipway/sdk';

/** Remedies for a failed operation, by its code: the api's own record contains the cause, but not the remedy. */
const WAYS_OUT: Record<string, string> = {
  validation_failed: 'Correct the spec and roll out again.',
  target_not_ready: 'Read the engine logs of its instances. Correct the spec, or set a longer progress deadline.',
  analysis_failed:
    'The gate was breached, and the previous route was restored. Compare the metrics before you roll out again.',
  analysis_inconclusive: 'Too few requests for a verdict. Soak longer, or require fewer samples.',
  analysis_not_comparable:
    'The loads of candidate and baseline differ too much to compare. Soak longer, or shift less traffic at once.',
  metrics_unavailable: 'The gateway reported no metrics for this period. Check that it runs, then retry.',
  health_regression: 'The candidate failed under traffic. Check its logs.',
  capacity_exhausted:
    'Free capacity on the target, or use the strategy recreate, which stops the previous revision first.',
  quota_exceeded: 'Ask an operator to raise the quota, or stop what is no longer needed.',
  dependency_outage: 'A service that Slipway depends on was unavailable. Retry when it is available again.',
  superseded: 'Another operation replaced this one. Check that operation.',
  cancelled_by_user: 'No action is needed. A cancelled rollout restores the previous route.',
  attempts_exhausted:
    'Every attempt failed. Remove the cause, then retry. The operation continues at the step that failed.',
  internal: 'Retry. If it fails again, report the operation ID to the operator of Slipway.',
};

export function remediationOf({ error_code, retryable }: Pick<Operation, 'error_code' | 'retryable'>): string {
  const known = WAYS_OUT[error_code ?? ''];
  if (known) return known;
  return retryable ? 'Retry. The operation continues at the step that failed.' : 'Check the step that failed.';
}
