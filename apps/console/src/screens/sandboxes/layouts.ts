import type { Layout } from '../../forms/layout.js';

export const CREATE_SANDBOX: Layout = {
  operation: 'createSandbox',
  shown: { '': ['labels', 'workspace', 'expires_at'] },
  words: { expires_at: { label: 'Expires' } },
};

export const UPDATE_SANDBOX: Layout = { ...CREATE_SANDBOX, operation: 'updateSandbox' };

export const CREATE_REFERENCE: Layout = {
  operation: 'createSandboxReference',
  shown: { '': ['provider', 'base_url', 'external_id', 'credential'] },
  words: { base_url: { label: 'Base URL' }, credential: { mismatch: 'ASCII characters without spaces' } },
};
