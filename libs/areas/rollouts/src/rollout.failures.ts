import { defineFailures } from '@slipway/contracts';

export const rolloutFailures = defineFailures({
  health_regression: [
    'A revision that was ready did not stay up, or does not answer',
    'Look at the evidence of the step for how the instances ended; mend the spec or the model server, and roll out anew.',
  ],
  analysis_failed: [
    'A gate found the candidate worse than allowed',
    'Compare the values in the evidence of the step; mend the revision, or loosen the gate if it was too strict.',
  ],
  analysis_inconclusive: [
    'A gate had too few samples to decide',
    'Send more traffic, soak longer, or lower `min_samples`.',
  ],
  analysis_not_comparable: [
    'A gate could not compare the candidate with the baseline at equal load',
    'Give the candidate about as much traffic for each of its instances as the baseline has, or check a threshold; the evidence of the step shows the loads.',
  ],
  metrics_unavailable: [
    'A gate had no samples at all',
    'See that requests go through the gateway while it soaks, and that the gateway reaches Postgres.',
  ],
});
