import { owned, type Bed, type ContractRequest, type Rows } from '@slipway/platform-testing/contract';

const URL = 'https://hooks.example.com/slipway';

/** Uses a new tenant each time, because the number of webhooks per tenant is limited. */
async function webhook(bed: Bed): Promise<ContractRequest & { params: { id: string }; token: string }> {
  const token = await bed.newTenant();
  return { params: { id: (await bed.make('POST', '/webhooks', { url: URL }, token)).id }, token };
}

/** A pending delivery: a test, which no worker sends here. */
async function delivery(bed: Bed): Promise<ContractRequest> {
  const { params, token } = await webhook(bed);
  const { event_id } = await bed.make('POST', `/webhooks/${params.id}/test`, {}, token);
  return { params: { ...params, event_id }, token };
}

async function endedDelivery(bed: Bed): Promise<ContractRequest> {
  const asked = await delivery(bed);
  await owned(
    bed.api,
    `update webhook_deliveries set status = 'failed', next_attempt_at = null, completed_at = now() where event_id = $1`,
    [asked.params!['event_id']],
  );
  return asked;
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
  getWebhook: { status: 200, valid: webhook },
  updateWebhook: {
    status: 200,
    audit: 'webhook.update',
    valid: async (bed) => ({ ...(await webhook(bed)), body: { description: bed.name('changed') } }),
  },
  deleteWebhook: { status: 200, audit: 'webhook.delete', valid: webhook },
  rotateWebhookSecret: {
    status: 200,
    audit: 'webhook.rotate_secret',
    valid: async (bed) => ({ ...(await webhook(bed)), body: { overlap_seconds: 60 } }),
  },
  testWebhook: { status: 201, audit: 'webhook.test', valid: webhook },
  listWebhookDeliveries: { status: 200, valid: webhook },
  getWebhookDelivery: { status: 200, valid: delivery },
  sendWebhookEvent: {
    status: 201,
    audit: 'webhook.redeliver',
    valid: async (bed) => {
      const { params, token } = await webhook(bed);
      const { name } = await bed.make('POST', '/deployments', { name: bed.name('sent') }, token);
      return { params, token, body: { deployment: name, sequence: 1 } };
    },
  },
  redeliverWebhookEvent: { status: 200, audit: 'webhook.redeliver', valid: endedDelivery },
  skipWebhookDelivery: { status: 200, audit: 'webhook.skip', valid: delivery },
};
