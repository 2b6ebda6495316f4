import { owned } from '../active-deployment.js';
import type { Bed, Rows } from './row.js';
import type { Json } from './schema.js';

async function product(bed: Bed): Promise<string> {
  return (await bed.make('POST', '/admin/model-api/products', { slug: bed.name('acme/chat') })).id;
}

async function bindingBody(bed: Bed): Promise<Json> {
  return {
    product_id: await product(bed),
    target: { supplier: 'someone', base_url: 'http://127.0.0.1:9/v1', model: 'm' },
  };
}

async function binding(bed: Bed): Promise<{ id: string; product_id: string }> {
  return bed.make('POST', '/admin/model-api/target-bindings', await bindingBody(bed));
}

/** Of a binding that counts as qualified: no worker runs here that would ask its target. */
async function publicationBody(bed: Bed): Promise<Json> {
  const { id, product_id } = await binding(bed);
  await owned(bed.api, `update model_api_target_bindings set state = 'qualified' where id = $1`, [id]);
  return { product_id, bindings: [{ binding_id: id }], audience: { visibility: 'shared' } };
}

async function publication(bed: Bed): Promise<{ id: string; product_id: string }> {
  return bed.make('POST', '/admin/model-api/publications', await publicationBody(bed));
}

async function passport(bed: Bed): Promise<{ id: string }> {
  return {
    id: (
      await bed.make('POST', '/context-passports', {
        deployment: await bed.deployment(),
        session_id: bed.name('session'),
      })
    ).id,
  };
}

/** Model API administration, Model APIs and Context Passport. */
export const MODEL_API_ROWS: Rows = {
  createModelApiProduct: {
    status: 201,
    valid: async (bed) => ({ body: { slug: bed.name('acme/chat') } }),
    full: (body) => ({ ...body, pricing: { currency: 'USD', input_per_mtok: 1, output_per_mtok: 2 } }),
  },
  listModelApiProducts: { status: 200, valid: async (bed) => (await product(bed), {}) },
  createTargetBinding: {
    status: 201,
    valid: async (bed) => ({ body: await bindingBody(bed) }),
    full: (body) => ({ ...body, limits: {} }),
  },
  listTargetBindings: { status: 200, valid: async (bed) => (await binding(bed), {}) },
  getTargetBinding: { status: 200, valid: async (bed) => ({ params: { id: (await binding(bed)).id } }) },
  qualifyTargetBinding: { status: 202, valid: async (bed) => ({ params: { id: (await binding(bed)).id }, body: {} }) },
  createModelApiPublication: { status: 201, valid: async (bed) => ({ body: await publicationBody(bed) }) },
  listModelApiPublications: { status: 200, valid: async (bed) => (await publication(bed), {}) },
  withdrawModelApiPublication: {
    status: 200,
    valid: async (bed) => ({ params: { id: (await publication(bed)).id }, body: {} }),
  },
  listModelApiCatalog: { status: 200, valid: async (bed) => (await publication(bed), {}) },
  getModelApiCatalogEntry: {
    status: 200,
    valid: async (bed) => ({ params: { id: (await publication(bed)).product_id } }),
  },
  createContextPassport: {
    status: 201,
    valid: async (bed) => ({ body: { deployment: await bed.deployment(), session_id: bed.name('session') } }),
    full: (body) => ({ ...body, affinity: {} }),
  },
  getContextPassport: { status: 200, valid: async (bed) => ({ params: await passport(bed) }) },
  revokeContextPassport: { status: 200, valid: async (bed) => ({ params: await passport(bed) }) },
};
