import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  createTenant: {
    status: 201,
    audit: 'tenant.create',
    tenancy: 'refused to all but the operator tenant',
    valid: async (bed) => ({ body: { name: bed.name('tenant') } }),
  },
  listTenants: { status: 200, tenancy: 'refused to all but the operator tenant', valid: async () => ({}) },
  createToken: {
    status: 201,
    audit: 'token.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async (bed) => ({ body: { name: bed.name('token'), scopes: ['viewer'] } }),
  },
  listTokens: { status: 200, tenancy: 'lists the tokens of the caller', valid: async () => ({}) },
  revokeToken: {
    status: 200,
    audit: 'token.revoke',
    valid: async (bed) => ({
      params: { id: (await bed.make('POST', '/tokens', { name: 'to revoke', scopes: ['viewer'] })).id },
    }),
  },
  whoAmI: { status: 200, tenancy: 'shows the caller alone', valid: async () => ({}) },
  setConsoleAccess: {
    status: 200,
    audit: 'console_access.grant',
    tenancy: 'maps in the tenant of the caller',
    valid: async (bed) => ({
      body: {
        provider: 'oidc',
        external_organization_id: 'org',
        external_user_id: bed.name('user'),
        access: true,
        scopes: ['viewer'],
      },
    }),
  },
  listConsoleAccess: { status: 200, tenancy: 'lists the mappings of the caller', valid: async () => ({}) },
};
