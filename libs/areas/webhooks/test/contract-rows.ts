import { type ContractRequest, type Bed, type Rows } from '@slipway/platform-testing/contract';

const URL = 'https://hooks.example.com/slipway';

/** Uses a new tenant each time, because the number of webhooks per tenant is limited. */
async function webhook(bed: Bed): Promise<ContractRequest> {
  const token = await bed.newTenant();
  return { params: { id: (await bed.make('POST', '/webhooks', { url: URL }, token)).id }, token };
}

export const ROWS: Rows = {
  createWebhook: {
    status: 201,
    audit: 'webhook.create',
    tenancy: 'creates in the tenant of the caller; a foreign deployment is not found, which webhooks.int.spec.ts shows',
    valid: async (bed) => ({ body: { url: URL }, token: await bed.newTenant() }),
  },
  listWebhooks: {
    status: 200,
    tenancy: 'lists the webhooks of the caller',
    valid: async (bed) => ({ token: (await webhook(bed)).token }),
  },
  deleteWebhook: { status: 200, audit: 'webhook.delete', valid: webhook },
  listWebhookDeliveries: { status: 200, valid: webhook },
};
