import { Inject, Injectable } from '@nestjs/common';
import { boundPassports, deleteExpiredPassportsOf, passportCounts } from '@slipway/dataplane';
import { CONFIG, type QuotaConfig } from '@slipway/platform-config';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';

/** Expired passports of a tenant that a round deletes, so that none holds its connection for long. */
const DELETED_AT_ONCE = 20_000;

/**
 * Tells the gateways, through the tenants' counts, how many passports each tenant may have, and makes room where one has them all: what
 * has expired is kept a week as a record, but not when it keeps live sessions out.
 */
@Injectable()
export class PassportBounds {
  constructor(@Inject(CONFIG) private readonly config: QuotaConfig) {}

  @Recurring({ name: 'context-passport-bounds', everySeconds: 10 })
  async run(transact: Transact): Promise<void> {
    const full = await transact('system', async (tx) => {
      const found: string[] = [];
      for (const { tenant_id, passports, max_passports } of await passportCounts(tx)) {
        const { context_passports: max } = await quotasOfTenant(tx, this.config, tenant_id);
        if (max !== max_passports) await boundPassports(tx, tenant_id, max);
        if (passports >= max) found.push(tenant_id);
      }
      return found;
    });
    for (const tenantId of full)
      await transact('system', (tx) => deleteExpiredPassportsOf(tx, tenantId, DELETED_AT_ONCE));
  }
}
