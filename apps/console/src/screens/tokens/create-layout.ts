import type { Layout } from '../../forms/layout.js';

export const CREATE_TOKEN: Layout = {
  operation: 'createToken',
  shown: { '': ['name', 'scopes', 'owner', 'expires_at'] },
};
