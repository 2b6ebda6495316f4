import { isIPv6 } from 'node:net';
import { RateLimiter } from './budgets.js';

/**
 * If this many addresses failed lately, all others share one allowance. Remembering each of them would let them fill
 * the memory.
 */
const MAX_ADDRESSES = 10_000;

/**
 * Limits an action of each address, with one `RateLimiter` bucket per address. Other keys than addresses count by
 * themselves. In memory, per process.
 */
export class AddressRate {
  private readonly limiter: RateLimiter;

  /** @param perMinute actions a minute, which can also happen at once; more than 0 */
  constructor(perMinute: number, now?: () => number) {
    this.limiter = new RateLimiter(perMinute, now);
  }

  /** @returns undefined if the action is within the limit, else the seconds after which the next one is */
  take(address: string): number | undefined {
    const { isAllowed, retrySeconds } = this.limiter.take(this.keyOf(address));
    return isAllowed ? undefined : retrySeconds;
  }

  private keyOf(address: string): string {
    const key = networkOf(address);
    return this.limiter.has(key) || this.limiter.size < MAX_ADDRESSES ? key : '';
  }
}

/** The limits of failed attempts: those of an address, and those for a claimed identity from anywhere. */
export interface FailureLimits {
  addressPerMinute: number;
  claimPerMinute: number;
}

/**
 * Counts failed attempts, after they failed. It never decides about an attempt itself: a correct secret is accepted,
 * whatever else came from its address. Successful attempts are not counted.
 */
export class FailedAttempts {
  private readonly ofAddress: AddressRate;
  private readonly ofClaim: AddressRate;

  constructor({ addressPerMinute, claimPerMinute }: FailureLimits, now?: () => number) {
    this.ofAddress = new AddressRate(addressPerMinute, now);
    this.ofClaim = new AddressRate(claimPerMinute, now);
  }

  /** @returns the seconds to wait if the refusal should ask the client to slow down, otherwise undefined */
  note(address: string, claim: string): number | undefined {
    const waits = [this.ofAddress.take(address), this.ofClaim.take(claim)].filter((wait) => wait !== undefined);
    return waits.length === 0 ? undefined : Math.max(...waits);
  }
}

/** For IPv6 the /64 network, because a host usually has all of it. An IPv4-mapped IPv6 address is its IPv4 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = (address.split('%', 1)[0] as string).split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) while (groups.length < 4) groups.push('0');
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
