import type { Transport } from '../client/transport.js';
import type { BodyOf, OptionsOf } from '../client/types.js';

export const adminOf = (api: Transport) => ({
  modelApi: {
    products: {
      list: (options?: OptionsOf<'listModelApiProducts'>) => api.list('listModelApiProducts', { options }),
      create: (body: BodyOf<'createModelApiProduct'>, options?: OptionsOf<'createModelApiProduct'>) =>
        api.call('createModelApiProduct', { body, options }),
      get: (id: string, options?: OptionsOf<'getModelApiProduct'>) =>
        api.call('getModelApiProduct', { path: { id }, options }),
      /** A merge patch: the named fields change, and null removes a field. */
      update: (id: string, body: BodyOf<'updateModelApiProduct'>, options?: OptionsOf<'updateModelApiProduct'>) =>
        api.call('updateModelApiProduct', { path: { id }, body, options }),
      delete: (id: string, options?: OptionsOf<'deleteModelApiProduct'>) =>
        api.call('deleteModelApiProduct', { path: { id }, options }),
    },
    publications: {
      list: (options?: OptionsOf<'listModelApiPublications'>) => api.list('listModelApiPublications', { options }),
      create: (body: BodyOf<'createModelApiPublication'>, options?: OptionsOf<'createModelApiPublication'>) =>
        api.call('createModelApiPublication', { body, options }),
      rehearse: (body: BodyOf<'createModelApiPublication'>, options?: OptionsOf<'createModelApiPublication'>) =>
        api.rehearse('createModelApiPublication', { body, options }),
      withdraw: (id: string, options?: OptionsOf<'withdrawModelApiPublication'>) =>
        api.call('withdrawModelApiPublication', { path: { id }, options }),
    },
    targetBindings: {
      list: (options?: OptionsOf<'listTargetBindings'>) => api.list('listTargetBindings', { options }),
      get: (id: string, options?: OptionsOf<'getTargetBinding'>) =>
        api.call('getTargetBinding', { path: { id }, options }),
      create: (body: BodyOf<'createTargetBinding'>, options?: OptionsOf<'createTargetBinding'>) =>
        api.call('createTargetBinding', { body, options }),
      qualify: (id: string, options?: OptionsOf<'qualifyTargetBinding'>) =>
        api.call('qualifyTargetBinding', { path: { id }, options }),
      delete: (id: string, options?: OptionsOf<'deleteTargetBinding'>) =>
        api.call('deleteTargetBinding', { path: { id }, options }),
    },
  },
});

export const modelApiCatalogOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listModelApiCatalog'>) => api.list('listModelApiCatalog', { options }),
  get: (id: string, options?: OptionsOf<'getModelApiCatalogEntry'>) =>
    api.call('getModelApiCatalogEntry', { path: { id }, options }),
});

export const contextPassportsOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listContextPassports'>) => api.list('listContextPassports', { options }),
  get: (id: string, options?: OptionsOf<'getContextPassport'>) =>
    api.call('getContextPassport', { path: { id }, options }),
  create: (body: BodyOf<'createContextPassport'>, options?: OptionsOf<'createContextPassport'>) =>
    api.call('createContextPassport', { body, options }),
  revoke: (id: string, options?: OptionsOf<'revokeContextPassport'>) =>
    api.call('revokeContextPassport', { path: { id }, options }),
  /** Removes the record of a passport that is revoked or expired. */
  delete: (id: string, options?: OptionsOf<'deleteContextPassport'>) =>
    api.call('deleteContextPassport', { path: { id }, options }),
});

export const targetsOf = (api: Transport) => ({
  list: (options?: OptionsOf<'listTargets'>) => api.list('listTargets', { options }),
});
