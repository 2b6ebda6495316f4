import type { Layout } from '../../forms/layout.js';

export const CREATE_WEBHOOK: Layout = {
  operation: 'createWebhook',
  shown: { '': ['url', 'event_types', 'deployments', 'description'] },
};
