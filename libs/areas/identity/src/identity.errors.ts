import { defineErrors } from '@slipway/platform-http';

export const identityErrors = defineErrors({
  tenant_exists: {
    status: 409,
    category: 'conflict',
    message: 'A tenant with this name, or one that differs in case alone, exists.',
    remediation: 'Choose another name.',
  },
  tenant_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such tenant.',
    remediation: 'List them with GET /api/v1/tenants.',
  },
  organization_not_granted: {
    status: 403,
    category: 'permission',
    message: "This organization is not one of this tenant's.",
    remediation: 'Ask the operator to add it to the tenant with PATCH /api/v1/tenants/{id}.',
  },
  token_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such token.',
    remediation: 'List them with GET /api/v1/tokens.',
  },
  console_access_revoked: {
    status: 403,
    category: 'permission',
    message: 'The access of this identity was revoked.',
    remediation: 'Ask an admin of the tenant to grant access again.',
  },
  last_admin: {
    status: 409,
    category: 'conflict',
    message: 'This would remove the last admin of the tenant.',
    remediation: 'Make another admin first: grant an identity the scope admin, or create a token with it.',
  },
});
