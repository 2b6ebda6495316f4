import { defineErrors } from '@slipway/platform-http';

export const identityErrors = defineErrors({
  tenant_exists: {
    status: 409,
    category: 'conflict',
    message: 'A tenant with this name already exists. Names are not case-sensitive.',
    remediation: 'Choose another name.',
  },
  tenant_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such tenant.',
    remediation: 'List tenants with GET /api/v1/tenants.',
  },
  organization_not_granted: {
    status: 403,
    category: 'permission',
    message: 'This organization is not assigned to this tenant.',
    remediation: 'Ask the operator to assign it to the tenant with PATCH /api/v1/tenants/{id}.',
  },
  token_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such token.',
    remediation: 'List tokens with GET /api/v1/tokens.',
  },
  token_exists: {
    status: 409,
    category: 'conflict',
    message: 'A usable token of the tenant already has this name.',
    remediation:
      'Choose another name, replace the existing token with POST /api/v1/tokens/{id}/rotate, or revoke it first.',
  },
  token_not_rotatable: {
    status: 409,
    category: 'conflict',
    message: 'This token cannot be rotated.',
    remediation: 'Rotate a token that is active and was not rotated before, or create a new token.',
  },
  console_access_revoked: {
    status: 403,
    category: 'permission',
    message: 'The access of this identity was revoked.',
    remediation: 'Ask an admin of the tenant to grant access again.',
  },
  console_access_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such mapping of a hosted identity.',
    remediation: 'List mappings with GET /api/v1/console/access.',
  },
  console_access_active: {
    status: 409,
    category: 'conflict',
    message: 'The mapping gives access.',
    remediation: 'Revoke the access first with PUT /api/v1/console/access.',
  },
  last_admin: {
    status: 409,
    category: 'conflict',
    message: 'This would remove the last admin of the tenant.',
    remediation: 'Add another admin first: grant the scope admin to an identity, or create a token with this scope.',
  },
});
