import type { Layout } from '../../forms/layout.js';

export const CREATE_TOKEN: Layout = {
  operation: 'createToken',
  shown: { '': ['name', 'scopes', 'owner', 'expires_at'] },
  // The form sets `expires_at`, and the api accepts one of both.
  fixed: ['expires_in'],
};
