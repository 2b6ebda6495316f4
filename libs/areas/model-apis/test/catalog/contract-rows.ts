import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  listModelApiCatalog: {
    status: 200,
    tenancy: 'lists what is published for the caller',
    valid: async (bed) => (await bed.publication(), {}),
  },
  getModelApiCatalogEntry: {
    status: 200,
    valid: async (bed) => ({ params: { id: (await bed.publication()).product_id } }),
  },
};
