import { defineErrors } from '@slipway/platform-http';

export const planErrors = defineErrors({
  plan_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such plan.',
    remediation: 'List plans with GET /api/v1/autopilot/plans.',
  },
  self_approval_forbidden: {
    status: 403,
    category: 'permission',
    message: 'The creator of a plan cannot approve it.',
    remediation:
      'Let another person approve it, or set promotion.prevent_self_approval of the policy to false and create a new plan.',
  },
  self_approval: {
    status: 403,
    category: 'permission',
    message: 'The caller who began an operation cannot approve its steps.',
    remediation:
      'Let another person approve it, or set promotion.prevent_self_approval of the policy of the deployment to false.',
  },
  approver_not_a_person: {
    status: 403,
    category: 'permission',
    message: 'Service tokens cannot approve plans. A person must approve.',
    remediation: 'Use a token whose owner is a person, or sign in at the hosted identity provider.',
  },
  hosted_identity_required: {
    status: 403,
    category: 'permission',
    message:
      'The policy of this plan accepts approvals only from people who are signed in at the hosted identity provider.',
    remediation:
      'Sign in at the provider, or set promotion.require_hosted_identity of the policy to false and create a new plan.',
  },
  plan_already_decided: {
    status: 409,
    category: 'conflict',
    message: 'This plan was already approved or rejected.',
    remediation: 'Read the plan. Create a new one if it was rejected.',
  },
  plan_not_approved: {
    status: 409,
    category: 'conflict',
    message: 'This plan is not approved.',
    remediation: 'Approve it with POST /api/v1/autopilot/plans/{id}/approve.',
  },
  plan_expired: {
    status: 409,
    category: 'conflict',
    message: 'This plan has expired.',
    remediation: 'Create a new plan.',
  },
  plan_stale: {
    status: 409,
    category: 'conflict',
    message: 'The base revision of this plan is not the active revision.',
    remediation: 'Create a plan based on the active revision.',
  },
  plan_digest_mismatch: {
    status: 409,
    category: 'conflict',
    message: 'The request does not match the content of the plan.',
    remediation: 'Read the plan again and use its content_digest and its rollout.',
  },
});
