import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  createModelApiProduct: {
    status: 201,
    audit: 'model_api_product.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async (bed) => ({ body: { slug: bed.name('acme/chat') } }),
    full: (body) => ({ ...body, pricing: { currency: 'USD', input_per_mtok: 1, output_per_mtok: 2 } }),
  },
  listModelApiProducts: {
    status: 200,
    tenancy: 'lists the products of the caller',
    valid: async (bed) => (await bed.product(), {}),
  },
  getModelApiProduct: { status: 200, valid: async (bed) => ({ params: { id: await bed.product() } }) },
  updateModelApiProduct: {
    status: 200,
    audit: 'model_api_product.update',
    valid: async (bed) => ({ params: { id: await bed.product() }, body: { display_name: bed.name('Chat') } }),
    full: (body) => ({ ...body, pricing: { currency: 'USD', input_per_mtok: 1, output_per_mtok: 2 } }),
  },
  deleteModelApiProduct: {
    status: 200,
    audit: 'model_api_product.delete',
    valid: async (bed) => ({ params: { id: await bed.product() } }),
  },
  createTargetBinding: {
    status: 201,
    audit: 'target_binding.create',
    example: { status: 404, why: 'nobody knows an id before it is made' },
    tenancy: 'creates in the tenant of the caller; a foreign product is 404, which model-api.e2e.spec.ts shows',
    valid: async (bed) => ({ body: await bed.bindingBody() }),
    full: (body) => ({ ...body, limits: {} }),
  },
  listTargetBindings: {
    status: 200,
    tenancy: 'lists the bindings of the caller',
    valid: async (bed) => (await bed.binding(), {}),
  },
  getTargetBinding: { status: 200, valid: async (bed) => ({ params: { id: (await bed.binding()).id } }) },
  deleteTargetBinding: {
    status: 200,
    audit: 'target_binding.delete',
    valid: async (bed) => ({ params: { id: (await bed.binding()).id } }),
  },
  qualifyTargetBinding: {
    status: 202,
    audit: 'target_binding.qualify',
    valid: async (bed) => ({ params: { id: (await bed.binding()).id }, body: {} }),
  },
  createModelApiPublication: {
    status: 201,
    audit: 'publication.create',
    example: { status: 404, why: 'nobody knows an id before it is made' },
    tenancy: 'creates in the tenant of the caller; a foreign product is 404, which model-api.e2e.spec.ts shows',
    valid: async (bed) => ({ body: await bed.publicationBody() }),
    full: (body) => ({ ...body, audience: { visibility: 'shared' }, media_urls: { allow: 'any' } }),
  },
  listModelApiPublications: {
    status: 200,
    tenancy: 'lists the publications of the caller',
    valid: async (bed) => (await bed.publication(), {}),
  },
  withdrawModelApiPublication: {
    status: 200,
    audit: 'publication.withdraw',
    valid: async (bed) => ({ params: { id: (await bed.publication()).id }, body: {} }),
  },
};
