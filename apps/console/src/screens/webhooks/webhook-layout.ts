import type { Layout } from '../../forms/layout.js';

export const CREATE_WEBHOOK: Layout = {
  operation: 'createWebhook',
  shown: { '': ['url', 'event_types', 'deployments', 'description'] },
};

export const UPDATE_WEBHOOK: Layout = { ...CREATE_WEBHOOK, operation: 'updateWebhook', fixed: ['state'] };

export const ROTATE_WEBHOOK_SECRET: Layout = { operation: 'rotateWebhookSecret', shown: {} };

export const SEND_WEBHOOK_EVENT: Layout = { operation: 'sendWebhookEvent', shown: {} };
