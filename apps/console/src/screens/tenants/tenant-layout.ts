import type { Layout } from '../../forms/layout.js';

const ORGANIZATIONS = { external_organization_ids: { label: 'Organizations' } };

export const CREATE_TENANT: Layout = {
  operation: 'createTenant',
  shown: { '': ['name', 'external_organization_ids', 'owner'] },
  words: ORGANIZATIONS,
};

export const UPDATE_TENANT: Layout = {
  operation: 'updateTenant',
  shown: { '': ['external_organization_ids'] },
  words: ORGANIZATIONS,
};
