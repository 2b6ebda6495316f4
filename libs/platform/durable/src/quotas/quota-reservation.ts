import { hasQuotasByTenant, quotasOf, type QuotaConfig, type QuotaName, type Quotas } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { quotaExceeded } from './quota.errors.js';
import { LOCK_QUOTA, TENANT_NAME } from './quota.query.js';

/** The quota that a transaction is about to use. */
export interface QuotaReservation {
  tenantId: string;
  quota: QuotaName;
  /** As `quotasOf` returns it. */
  limit: number;
}

/**
 * Locks a quota of a tenant until the transaction ends; other additions to it wait here. Use it if the caller counts in
 * its own way.
 */
export async function lockQuota(tx: Tx, tenantId: string, quota: QuotaName): Promise<void> {
  await tx.query(LOCK_QUOTA, [tenantId, quota]);
}

/**
 * Reserves a part of a quota before something is added. Other additions to this quota of this tenant wait here until
 * the transaction ends, so that each counts what the previous one has written.
 * @param count returns the current number. It runs after the lock is taken, and may be sent together with it
 * @param adding how many more there will be
 * @throws quota_exceeded (429)
 */
export async function reserveQuota(
  tx: Tx,
  { tenantId, quota, limit }: QuotaReservation,
  count: () => Promise<number>,
  adding = 1,
): Promise<void> {
  const [, had] = await Promise.all([lockQuota(tx, tenantId, quota), count()]);
  if (had + adding > limit) throw quotaExceeded(quota, limit, { used: had, adding });
}

/** The quotas of a tenant of which only the id is known, in a system transaction. */
export async function quotasOfTenant(tx: Tx, config: QuotaConfig, tenantId: string): Promise<Quotas> {
  if (!hasQuotasByTenant(config)) return quotasOf(config, '');
  const tenant = await tx.one<{ name: string }>(TENANT_NAME, [tenantId]);
  return quotasOf(config, tenant?.name ?? '');
}
