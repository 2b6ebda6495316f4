import { defineFailures } from '@slipway/contracts';

export const rolloutFailures = defineFailures({
  health_regression: 'A revision that was ready did not stay up, or does not answer',
  analysis_failed: 'A gate found the candidate worse than allowed',
  analysis_inconclusive: 'A gate had too few samples to decide',
  metrics_unavailable: 'A gate had no samples at all',
});
