import type { Rows } from '@slipway/platform-testing/contract';

const OWNER = { type: 'person', id: 'alice' };

export const ROWS: Rows = {
  createTenant: {
    status: 201,
    audit: 'tenant.create',
    tenancy: 'refused to all but the operator tenant',
    valid: async (bed) => ({ body: { name: bed.name('tenant') } }),
    full: (body) => ({ ...body, owner: OWNER }),
  },
  updateTenant: {
    status: 200,
    audit: 'tenant.update',
    valid: async (bed) => {
      const name = bed.name('tenant');
      const { id } = await bed.api.createTenant(name);
      return { params: { id }, body: { external_organization_ids: [`org-of-${name}`] } };
    },
  },
  listTenants: { status: 200, tenancy: 'refused to all but the operator tenant', valid: async () => ({}) },
  createToken: {
    status: 201,
    audit: 'token.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async (bed) => ({ body: { name: bed.name('token'), scopes: ['viewer'] } }),
    full: (body) => ({ ...body, owner: OWNER }),
  },
  listTokens: { status: 200, tenancy: 'lists the tokens of the caller', valid: async () => ({}) },
  rotateToken: {
    status: 201,
    audit: 'token.rotate',
    valid: async (bed) => ({
      params: { id: (await bed.make('POST', '/tokens', { name: bed.name('token'), scopes: ['viewer'] })).id },
      body: {},
    }),
  },
  revokeToken: {
    status: 200,
    audit: 'token.revoke',
    valid: async (bed) => ({
      params: { id: (await bed.make('POST', '/tokens', { name: bed.name('to revoke'), scopes: ['viewer'] })).id },
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
  deleteConsoleAccess: {
    status: 200,
    audit: 'console_access.delete',
    valid: async (bed) => {
      const identity = { provider: 'oidc', external_organization_id: 'org', external_user_id: bed.name('gone') };
      return { params: { id: (await bed.make('PUT', '/console/access', { ...identity, access: false })).id } };
    },
  },
  listConsoleAccess: { status: 200, tenancy: 'lists the mappings of the caller', valid: async () => ({}) },
};
