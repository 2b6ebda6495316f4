import { hasQuotasByTenant, quotasOf, type QuotaConfig, type QuotaName, type Quotas } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { quotaExceeded } from './quota.errors.js';
import { LOCK_QUOTA, TENANT_NAME } from './quota.query.js';

/** What is about to be added to. */
export interface QuotaReservation {
  tenantId: string;
  quota: QuotaName;
  /** As `quotasOf` gives it. */
  limit: number;
}

/** Whoever adds to this quota of this tenant waits here until the transaction ends. For who counts in a way of its own. */
export async function lockQuota(tx: Tx, tenantId: string, quota: QuotaName): Promise<void> {
  await tx.query(LOCK_QUOTA, [tenantId, quota]);
}

/**
 * Makes room certain before something is added: whoever adds to this quota of this tenant waits here until the transaction ends, so
 * that each counts what the one before has written.
 * @param count how many there are, asked behind the lock; it may be sent together with it
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
  if (had + adding > limit) throw quotaExceeded(quota, limit);
}

/** The quotas of a tenant that is known by its id only, in a system transaction. */
export async function quotasOfTenant(tx: Tx, config: QuotaConfig, tenantId: string): Promise<Quotas> {
  if (!hasQuotasByTenant(config)) return quotasOf(config, '');
  const tenant = await tx.one<{ name: string }>(TENANT_NAME, [tenantId]);
  return quotasOf(config, tenant?.name ?? '');
}
