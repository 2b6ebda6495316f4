import type { Transport } from '../client/transport.js';
import type { BodyOf, OptionsOf } from '../client/types.js';

export const tokensOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listTokens'>) => api.list('listTokens', { options }),
  create: (body: BodyOf<'createToken'>, options?: OptionsOf<'createToken'>) =>
    api.call('createToken', { body, options }),
  /** Replaces a token: the answer has the new one, once, and the old one stays usable for `overlap_seconds`. */
  rotate: (id: string, body: BodyOf<'rotateToken'> = {}, options?: OptionsOf<'rotateToken'>) =>
    api.call('rotateToken', { path: { id }, body, options }),
  revoke: (id: string, options?: OptionsOf<'revokeToken'>) => api.call('revokeToken', { path: { id }, options }),
});

export const tenantsOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listTenants'>) => api.list('listTenants', { options }),
  create: (body: BodyOf<'createTenant'>, options?: OptionsOf<'createTenant'>) =>
    api.call('createTenant', { body, options }),
  update: (id: string, body: BodyOf<'updateTenant'>, options?: OptionsOf<'updateTenant'>) =>
    api.call('updateTenant', { path: { id }, body, options }),
});

export const consoleAccessOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listConsoleAccess'>) => api.list('listConsoleAccess', { options }),
  set: (body: BodyOf<'setConsoleAccess'>, options?: OptionsOf<'setConsoleAccess'>) =>
    api.call('setConsoleAccess', { body, options }),
  /** Removes a mapping that is revoked. */
  delete: (id: string, options?: OptionsOf<'deleteConsoleAccess'>) =>
    api.call('deleteConsoleAccess', { path: { id }, options }),
});

export const webhooksOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listWebhooks'>) => api.list('listWebhooks', { options }),
  create: (body: BodyOf<'createWebhook'>, options?: OptionsOf<'createWebhook'>) =>
    api.call('createWebhook', { body, options }),
  get: (id: string, options?: OptionsOf<'getWebhook'>) => api.call('getWebhook', { path: { id }, options }),
  update: (id: string, body: BodyOf<'updateWebhook'>, options?: OptionsOf<'updateWebhook'>) =>
    api.call('updateWebhook', { path: { id }, body, options }),
  delete: (id: string, options?: OptionsOf<'deleteWebhook'>) => api.call('deleteWebhook', { path: { id }, options }),
  rotateSecret: (id: string, body: BodyOf<'rotateWebhookSecret'> = {}, options?: OptionsOf<'rotateWebhookSecret'>) =>
    api.call('rotateWebhookSecret', { path: { id }, body, options }),
  /** Sends an event of type `webhook.test`. Returns its delivery; read that until it is no longer pending. */
  test: (id: string, options?: OptionsOf<'testWebhook'>) => api.call('testWebhook', { path: { id }, options }),
  deliveries: (id: string, options?: OptionsOf<'listWebhookDeliveries'>) =>
    api.list('listWebhookDeliveries', { path: { id }, options }),
  delivery: (id: string, eventId: string, options?: OptionsOf<'getWebhookDelivery'>) =>
    api.call('getWebhookDelivery', { path: { id, event_id: eventId }, options }),
  send: (id: string, body: BodyOf<'sendWebhookEvent'>, options?: OptionsOf<'sendWebhookEvent'>) =>
    api.call('sendWebhookEvent', { path: { id }, body, options }),
  redeliver: (id: string, eventId: string, options?: OptionsOf<'redeliverWebhookEvent'>) =>
    api.call('redeliverWebhookEvent', { path: { id, event_id: eventId }, options }),
  skip: (id: string, eventId: string, options?: OptionsOf<'skipWebhookDelivery'>) =>
    api.call('skipWebhookDelivery', { path: { id, event_id: eventId }, options }),
});

export const auditOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listAudit'>) => api.list('listAudit', { options }),
});
