import { defineErrors } from '@slipway/platform-http';
import { defineFailures } from '@slipway/contracts';

export const rolloutErrors = defineErrors({
  capacity_exhausted: {
    status: 409,
    category: 'capacity',
    message: 'The target has no room for one more revision beside those that this deployment runs.',
    remediation:
      'Roll out with strategy recreate, which stops the previous revision first, or auto; or have the operator give the target more room.',
  },
  plan_required: {
    status: 409,
    category: 'conflict',
    message: 'The deployment takes only rollouts of an approved plan.',
    remediation:
      'Propose it with POST /api/v1/autopilot/plans, have it approved, and send its plan_id. A rollback needs none.',
  },
});

export const rollbackErrors = defineErrors({
  no_previous_revision: {
    status: 404,
    category: 'not_found',
    message: 'There is no earlier revision to roll back to.',
    remediation: 'Name one with to_revision.',
  },
  revision_already_active: {
    status: 409,
    category: 'conflict',
    message: 'This revision already holds all traffic.',
    remediation: 'Name another revision with to_revision.',
  },
  revision_not_restorable: {
    status: 409,
    category: 'conflict',
    message: 'This revision cannot be brought up again.',
    remediation: 'Name another revision with to_revision, or roll out its spec anew.',
  },
});

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
