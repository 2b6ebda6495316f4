import type { Transport } from '../client/transport.js';
import type { BodyOf, OptionsOf } from '../client/types.js';

export const modelApiCatalogOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listModelApiCatalog'>) => api.list('listModelApiCatalog', { options }),
  get: (id: string, options?: OptionsOf<'getModelApiCatalogEntry'>) =>
    api.call('getModelApiCatalogEntry', { path: { id }, options }),
});

export const contextPassportsOf = (api: Transport) => ({
  get: (id: string, options?: OptionsOf<'getContextPassport'>) =>
    api.call('getContextPassport', { path: { id }, options }),
  create: (body: BodyOf<'createContextPassport'>, options?: OptionsOf<'createContextPassport'>) =>
    api.call('createContextPassport', { body, options }),
  revoke: (id: string, options?: OptionsOf<'revokeContextPassport'>) =>
    api.call('revokeContextPassport', { path: { id }, options }),
});

export const targetsOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listTargets'>) => api.list('listTargets', { options }),
});
