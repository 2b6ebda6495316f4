import type { Operation } from '@slipway/sdk';

/** What to do about an operation that came to nothing, by its code: the api's own record tells the cause, not the way out. */
const WAYS_OUT: Record<string, string> = {
  validation_failed: 'Correct the spec and roll out again.',
  target_not_ready: 'Read the engine logs of its instances; correct the spec, or give it a longer progress deadline.',
  analysis_failed:
    'The gate was breached and the route is as it was. Compare the measures beside it before you try again.',
  analysis_inconclusive: 'Too few requests for a verdict: soak longer, or ask for fewer samples.',
  analysis_not_comparable:
    'Candidate and baseline were loaded too differently to compare: soak longer, or shift less at once.',
  metrics_unavailable: 'The gateway has told nothing of this time. See whether it runs, then try again.',
  health_regression: 'The candidate fell over under traffic. Its logs say why.',
  capacity_exhausted: 'Make room on the target, or use the strategy recreate, which stops the old one first.',
  quota_exceeded: 'Ask an operator for more, or stop what is no longer needed.',
  dependency_outage: 'Something that Slipway needs was away. Retry once it is back.',
  superseded: 'Another operation took over; look at that one.',
  cancelled_by_user: 'Nothing to do: the route is as it was before.',
  attempts_exhausted: 'Every attempt failed. Remove the cause, then retry: it goes on at the step that failed.',
  internal: 'Retry. If it fails again, give the operation’s id to whoever runs Slipway.',
};

export function remediationOf({ error_code, retryable }: Pick<Operation, 'error_code' | 'retryable'>): string {
  const known = WAYS_OUT[error_code ?? ''];
  if (known) return known;
  return retryable ? 'Retry: it goes on at the step that failed.' : 'Look at the step that failed.';
}
