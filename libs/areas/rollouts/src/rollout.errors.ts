import { defineErrors } from '@slipway/platform-http';
import { defineFailures } from '@slipway/contracts';

export const rolloutErrors = defineErrors({
  capacity_exhausted: {
    status: 409,
    category: 'capacity',
    message: 'The target does not have enough capacity for another revision alongside those that this deployment runs.',
    remediation:
      'Use strategy recreate, which stops the previous revision first, or auto. Or ask the operator to add capacity to the target.',
  },
  plan_required: {
    status: 409,
    category: 'conflict',
    message: 'The deployment accepts only rollouts of an approved plan.',
    remediation:
      'Propose a plan with POST /api/v1/autopilot/plans, have it approved, and send its plan_id. A rollback needs no plan.',
  },
  promotion_refused: {
    status: 409,
    category: 'conflict',
    message:
      'The rollout executes a plan, which was approved with its steps and its gate. They cannot be passed by hand.',
    remediation: 'Wait for the soak and its gate, or cancel the rollout. A decision of the gate can be passed.',
  },
});

export const restartErrors = defineErrors({
  nothing_to_restart: {
    status: 409,
    category: 'conflict',
    message: 'The deployment has no revision that serves.',
    remediation: 'Create a rollout.',
  },
  restart_not_supported: {
    status: 409,
    category: 'conflict',
    message: 'The servers of this deployment are adopted: Slipway neither starts nor stops them.',
    remediation: 'Restart the servers where they run. They get requests again as soon as they answer their probes.',
  },
});

export const rollbackErrors = defineErrors({
  no_previous_revision: {
    status: 404,
    category: 'not_found',
    message: 'The deployment has no earlier revision to roll back to.',
    remediation: 'Choose a revision with to_revision.',
  },
  revision_already_active: {
    status: 409,
    category: 'conflict',
    message: 'This revision already receives all traffic.',
    remediation: 'Choose another revision with to_revision.',
  },
  revision_not_restorable: {
    status: 409,
    category: 'conflict',
    message: 'This revision cannot be started again.',
    remediation: 'Choose another revision with to_revision, or create a new rollout with its spec.',
  },
});

export const rolloutFailures = defineFailures({
  health_regression: [
    'A revision that was ready did not stay up or does not respond',
    'Check in the evidence of the step how the instances ended. Fix the spec or the model server, and create a new rollout.',
  ],
  analysis_failed: [
    'A gate found the candidate worse than allowed',
    'Compare the values in the evidence of the step; fix the revision, or loosen the gate if it was too strict.',
  ],
  analysis_inconclusive: [
    'A gate had too few samples or callers to decide',
    'Send more traffic, soak longer, or lower `min_samples`.',
  ],
  analysis_not_comparable: [
    'A gate could not compare the candidate with the baseline at equal load',
    'Send each instance of the candidate about as much traffic as each instance of the baseline, or check a threshold. The evidence of the step shows the loads.',
  ],
  metrics_unavailable: [
    'A gate had no samples, or incomplete records of the gateways',
    'Check that requests go through the gateway during the soak, and that the gateway can reach Postgres.',
  ],
});
