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
    remediation: 'Let another person approve it, or allow it in the policy with promotion.prevent_self_approval.',
  },
  approver_not_a_person: {
    status: 403,
    category: 'permission',
    message: 'A service approves no plan: approvals are of people.',
    remediation: 'Approve it with a token whose owner is a person, or signed in at the hosted identity provider.',
  },
  hosted_identity_required: {
    status: 403,
    category: 'permission',
    message:
      'The policy of this plan takes approvals only of people who are signed in at the hosted identity provider.',
    remediation: 'Sign in at the provider, or change promotion.require_hosted_identity of the policy and plan again.',
  },
  plan_already_decided: {
    status: 409,
    category: 'conflict',
    message: 'This plan has been decided already.',
    remediation: 'Read the plan; create a new one where it was rejected.',
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
    message: 'The revision this plan is based on is not the active one.',
    remediation: 'Create a plan on the active revision.',
  },
  plan_digest_mismatch: {
    status: 409,
    category: 'conflict',
    message: 'This is not what the plan says.',
    remediation: 'Read the plan again and use its content_digest and its rollout.',
  },
});
