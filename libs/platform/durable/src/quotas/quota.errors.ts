import type { QuotaName } from '@slipway/platform-config';
import { defineErrors, SlipwayError, type ErrorSpec } from '@slipway/platform-http';

const SPEC = {
  status: 429,
  category: 'limit',
  message: 'A quota of the tenant is exceeded.',
  remediation: 'Delete unused resources, or ask the operator for a higher quota.',
} as const satisfies ErrorSpec;

/** The only definition of `quota_exceeded`, for all areas. Throw `quotaExceeded(...)`, which names the quota. */
export const quotaErrors = defineErrors({ quota_exceeded: SPEC });

/** The counted things as a message names them, and how to free some. `eases`: waiting also helps. */
const SAID: Record<QuotaName, { counted: string; remedy: string; eases?: true }> = {
  deployments: { counted: 'deployments', remedy: 'Delete a deployment' },
  revisions: {
    counted: 'revisions of this deployment',
    remedy: 'Wait until old revisions are deleted, delete bindings that pin them',
    eases: true,
  },
  instances: { counted: 'instances', remedy: 'Lower scaling.min_replicas, delete a deployment' },
  tokens: { counted: 'active tokens', remedy: 'Revoke a token' },
  event_streams: { counted: 'open event streams', remedy: 'Close an event stream', eases: true },
  event_streams_per_token: {
    counted: 'open event streams with this token',
    remedy: 'Close an event stream',
    eases: true,
  },
  sandboxes: { counted: 'sandboxes', remedy: 'Delete a sandbox, wait until one expires (expires_at)', eases: true },
  sandbox_bytes: {
    counted: 'bytes in sandboxes',
    remedy: 'Delete files or sandboxes, wait until a sandbox expires (expires_at)',
    eases: true,
  },
  sandbox_uploads: { counted: 'unfinished uploads', remedy: 'Wait until an upload ends', eases: true },
  sandbox_files: { counted: 'files in this sandbox', remedy: 'Delete files, use another sandbox' },
  context_passports: {
    counted: 'context passports',
    remedy:
      'Use one session id for a whole conversation, delete revoked passports, wait until expired ones are deleted',
    eases: true,
  },
  stored_bytes: {
    counted: 'stored bytes',
    remedy: 'Delete deployments, webhooks or sandboxes, wait until old events and operations are deleted',
    eases: true,
  },
  plans: {
    counted: 'autopilot plans',
    remedy: 'Wait until old plans are deleted, a year after they expire',
    eases: true,
  },
  policy_versions: { counted: 'versions of policies', remedy: 'Delete a deployment whose policy has many versions' },
  products: { counted: 'model API products', remedy: 'Delete a product' },
  target_bindings: { counted: 'target bindings', remedy: 'Delete a binding' },
  publications: {
    counted: 'publications of model APIs',
    remedy: 'Publish products that have publications again, because their old publications are deleted',
  },
  console_access: { counted: 'console access mappings', remedy: 'Delete revoked mappings' },
  sandbox_references: { counted: 'sandbox references', remedy: 'Delete revoked references' },
  idempotency_keys: {
    counted: 'stored Idempotency-Keys',
    remedy: 'Send the request without a key, wait until old keys are deleted',
    eases: true,
  },
  webhooks: { counted: 'webhooks', remedy: 'Delete a webhook' },
  webhook_deliveries: {
    counted: 'pending webhook deliveries',
    remedy: 'Fix or delete the webhook whose receiver does not respond',
    eases: true,
  },
  reads_per_minute: { counted: 'reads a minute', remedy: 'Send fewer requests', eases: true },
  mutations_per_minute: { counted: 'mutations a minute', remedy: 'Send fewer requests', eases: true },
  inference_requests_per_minute: { counted: 'inference requests a minute', remedy: 'Send fewer requests', eases: true },
  inference_concurrency: {
    counted: 'concurrent inference requests',
    remedy: 'Send fewer requests at a time',
    eases: true,
  },
};

/**
 * Returns a `quota_exceeded` error (429) to throw: the request would exceed `limit` of this quota.
 * @param use how many there are without the request, and how many it would add; absent for rates
 */
export function quotaExceeded(quota: QuotaName, limit: number, use?: { used: number; adding: number }): SlipwayError {
  const { counted, remedy, eases = false } = SAID[quota];
  return new SlipwayError(
    'quota_exceeded',
    { ...SPEC, retryable: eases },
    {
      message: `Tenant quota ${quota} exceeded: at most ${limit} ${counted}${usage(use)}.`,
      remediation: `${remedy}, or ask the operator for a higher quota.`,
      extra: { quota, limit, ...(use && { used: use.used }) },
    },
  );
}

function usage(use: { used: number; adding: number } | undefined): string {
  return use ? `; ${use.used} are in use and the request needs ${use.adding} more` : '';
}
