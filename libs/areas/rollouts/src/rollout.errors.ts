import { defineErrors } from '@slipway/platform-http';

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
