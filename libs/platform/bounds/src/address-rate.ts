import { isIPv6 } from 'node:net';
import { RateLimiter } from './budgets.js';

/** Beyond so many that failed lately, all others share one allowance: remembering each would let them fill the memory. */
const MAX_ADDRESSES = 10_000;

/**
 * What addresses may try in vain: a bucket each, as a `RateLimiter`'s. A try takes, and one that succeeds gives back, so that many
 * honest clients behind one address never use it up. In memory, per process.
 */
export class AddressRate {
  private readonly limiter: RateLimiter;

  /** @param perMinute tries a minute, and at once; more than 0 */
  constructor(perMinute: number) {
    this.limiter = new RateLimiter(perMinute);
  }

  /** Undefined, or the seconds after which the address may try again. */
  take(address: string): number | undefined {
    const { isAllowed, retrySeconds } = this.limiter.take(this.keyOf(address));
    return isAllowed ? undefined : retrySeconds;
  }

  giveBack(address: string): void {
    this.limiter.giveBack(this.keyOf(address));
  }

  private keyOf(address: string): string {
    const key = networkOf(address);
    return this.limiter.has(key) || this.limiter.size < MAX_ADDRESSES ? key : '';
  }
}

/** Of IPv6 the /64, since any host has all of one to itself; an IPv4 address in its clothes is that. */
function networkOf(address: string): string {
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
