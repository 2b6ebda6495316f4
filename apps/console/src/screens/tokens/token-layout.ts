import type { Layout } from '../../forms/layout.js';

const LIVES = { '1d': 'in a day', '7d': 'in 7 days', '30d': 'in 30 days', '180d': 'in 180 days' };

/** The form sets `expires_in`, and the api accepts one of both. */
const EXPIRY = (byDefault: string): Pick<Layout, 'fixed' | 'words'> => ({
  fixed: ['expires_at'],
  words: { expires_in: { label: 'Expires', hint: '', choices: { '': byDefault, ...LIVES, '364d': 'in 364 days' } } },
});

export const CREATE_TOKEN: Layout = {
  operation: 'createToken',
  shown: { '': ['name', 'scopes', 'owner', 'expires_in'] },
  ...EXPIRY('in 90 days (default)'),
};

export const ROTATE_TOKEN: Layout = {
  operation: 'rotateToken',
  shown: { '': ['overlap_seconds', 'expires_in'] },
  ...EXPIRY('after the lifetime of the old token (default)'),
};
