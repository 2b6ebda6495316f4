import { LRUCache } from 'lru-cache';
import pLimit, { type LimitFunction } from 'p-limit';

/** Of the 20 calls that an API server gets at once: units are begun beside them. */
const AT_ONCE = 8;
const AT_ONCE_OF_A_TENANT = 4;
const MOST_TENANTS = 1_000;

/** Several writes at once, in an order in which no tenant waits for a thousand of another one. */
export class TenantWriteQueue {
  private readonly all = pLimit(AT_ONCE);
  private readonly tenants = new LRUCache<string, LimitFunction>({ max: MOST_TENANTS });

  run(tenant: string, write: () => Promise<void>): Promise<void> {
    const own = this.tenants.get(tenant) ?? pLimit(AT_ONCE_OF_A_TENANT);
    this.tenants.set(tenant, own);
    return own(() => this.all(write));
  }
}
