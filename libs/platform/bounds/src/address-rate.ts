import { isIPv6 } from 'node:net';
import { RateLimiter } from './budgets.js';

/**
 * If this many addresses failed lately, all others share one allowance. Remembering each of them would let them fill
 * the memory.
 */
const MAX_ADDRESSES = 10_000;

/**
 * Limits failed attempts for each address, with one `RateLimiter` bucket per address.
 * An attempt takes a token, and a successful one gives it back, so that many honest clients at one address never use up
 * their bucket. In memory, per process.
 */
export class AddressRate {
  private readonly limiter: RateLimiter;

  /** @param perMinute attempts a minute, which can also be made at once; more than 0 */
  constructor(perMinute: number) {
    this.limiter = new RateLimiter(perMinute);
  }

  /** @returns undefined if the attempt is allowed, else the seconds after which the address may try again */
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

/** For IPv6 the /64 network, because a host usually has all of it. An IPv4-mapped IPv6 address is its IPv4 address. */
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
