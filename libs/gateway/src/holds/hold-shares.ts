/** Bounds of one deployment. In this gateway, a tenant may have twice as much waiting, and all tenants four times. */
export interface HoldBounds {
  maxRequests: number;
  /** Bytes of the waiting bodies. */
  maxBytes: number;
}

/** A request that wants to wait. */
export interface Waiter {
  deploymentId: string;
  /** Tenant of the deployment. */
  ownerId: string;
  /** Tenant of the request: tenants that do not own a published product call it too. */
  tenantId: string;
  bytes: number;
}

const TENANT_SHARE = 2;
const GATEWAY_SHARE = 4;
/** Other tenants' requests leave capacity for the owner's. */
const GUEST_SHARE = 0.5;

/** Counts waiting requests by tenant and deployment, so that no tenant takes all the capacity. */
export class HoldShares {
  private readonly taken = new Map<string, { requests: number; bytes: number }>();

  constructor(private readonly bounds: HoldBounds) {}

  get requests(): number {
    return this.taken.get('gateway')?.requests ?? 0;
  }

  /** Takes capacity and returns a function that gives it back, or undefined if there is none. */
  take(waiter: Waiter): (() => void) | undefined {
    const shares = sharesOf(waiter);
    if (!shares.every(([key, share]) => this.hasCapacity(key, share, waiter.bytes))) return undefined;
    for (const [key] of shares) this.move(key, 1, waiter.bytes);
    return () => {
      for (const [key] of shares) this.move(key, -1, -waiter.bytes);
    };
  }

  private hasCapacity(key: string, share: number, bytes: number): boolean {
    const { maxRequests, maxBytes } = this.bounds;
    const taken = this.taken.get(key);
    return (taken?.requests ?? 0) < maxRequests * share && (taken?.bytes ?? 0) + bytes <= maxBytes * share;
  }

  private move(key: string, requests: number, bytes: number): void {
    const taken = this.taken.get(key) ?? { requests: 0, bytes: 0 };
    taken.requests += requests;
    taken.bytes += bytes;
    if (taken.requests === 0) this.taken.delete(key);
    else this.taken.set(key, taken);
  }
}

function sharesOf({ deploymentId, ownerId, tenantId }: Waiter): [key: string, share: number][] {
  const shares: [string, number][] = [
    ['gateway', GATEWAY_SHARE],
    [`tenant ${tenantId}`, TENANT_SHARE],
    [`deployment ${deploymentId}`, 1],
  ];
  if (tenantId !== ownerId) shares.push([`guest ${tenantId} of ${deploymentId}`, GUEST_SHARE]);
  return shares;
}
