import type { Rows } from './row.js';

/** Identity and Audit. */
export const IDENTITY_ROWS: Rows = {
  createTenant: { status: 201, valid: async (bed) => ({ body: { name: bed.name('tenant') } }) },
  listTenants: { status: 200, valid: async () => ({}) },
  createToken: { status: 201, valid: async (bed) => ({ body: { name: bed.name('token'), scopes: ['viewer'] } }) },
  listTokens: { status: 200, valid: async () => ({}) },
  revokeToken: {
    status: 200,
    valid: async (bed) => ({
      params: { id: (await bed.make('POST', '/tokens', { name: 'to revoke', scopes: ['viewer'] })).id },
    }),
  },
  whoAmI: { status: 200, valid: async () => ({}) },
  setConsoleAccess: {
    status: 200,
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
  listConsoleAccess: { status: 200, valid: async () => ({}) },
  listAudit: { status: 200, valid: async () => ({}) },
};
