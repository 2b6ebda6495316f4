import type { Asked, Bed, Rows } from './row.js';

const URL = 'https://hooks.example.com/slipway';

/** Every tenant may have only so many. */
async function webhook(bed: Bed): Promise<Asked> {
  const token = await bed.newTenant();
  return { params: { id: (await bed.make('POST', '/webhooks', { url: URL }, token)).id }, token };
}

export const WEBHOOK_ROWS: Rows = {
  createWebhook: { status: 201, valid: async (bed) => ({ body: { url: URL }, token: await bed.newTenant() }) },
  listWebhooks: { status: 200, valid: async (bed) => ({ token: (await webhook(bed)).token }) },
  deleteWebhook: { status: 200, valid: webhook },
  listWebhookDeliveries: { status: 200, valid: webhook },
};
