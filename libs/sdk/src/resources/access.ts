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
  delete: (id: string, options?: OptionsOf<'deleteWebhook'>) => api.call('deleteWebhook', { path: { id }, options }),
  deliveries: (id: string, options?: OptionsOf<'listWebhookDeliveries'>) =>
    api.list('listWebhookDeliveries', { path: { id }, options }),
});

export const auditOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listAudit'>) => api.list('listAudit', { options }),
});
