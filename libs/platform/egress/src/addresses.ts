import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { isMetadataAddress } from './metadata.js';

/**
 * - `public`: globally routable unicast.
 * - `internal`: loopback, private, shared (CGNAT) and unique-local networks. An operator may name a host in them.
 * - `forbidden`: link-local, metadata services of clouds, multicast, unspecified, translated and reserved ranges. They are never
 *   reached through a name. They can be used only if an operator lists the exact address.
 */
export type AddressReach = 'public' | 'internal' | 'forbidden';

const INTERNAL_RANGES = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/** Only 2000::/3 is assigned for global unicast; this also rejects `::127.0.0.1` and the like. */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Classifies one IP address in text form. An IPv4-mapped IPv6 address counts as its IPv4 address. Text that cannot be
 * parsed is `forbidden`.
 */
export function addressReachOf(address: string): AddressReach {
  const canonical = canonicalAddress(address);
  if (canonical === undefined || isMetadataAddress(canonical)) return 'forbidden';
  const parsed = ipaddr.parse(canonical);
  const range = parsed.range();
  if (INTERNAL_RANGES.has(range)) return 'internal';
  if (range !== 'unicast') return 'forbidden';
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_IPV6)) return 'forbidden';
  return 'public';
}

/** One spelling per address (`::ffff:127.0.0.1` and `[::1]` become `127.0.0.1` and `::1`); undefined for a name. */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.replace(/^\[(.*)\]$/, '$1').split('%', 1)[0] as string;
  const isStrict = bare.includes(':') ? ipaddr.IPv6.isValid(bare) : ipaddr.IPv4.isValidFourPartDecimal(bare);
  return isStrict ? ipaddr.process(bare).toString() : undefined;
}

/** @param address canonical */
export function isLoopback(address: string): boolean {
  return ipaddr.parse(address).range() === 'loopback';
}

/** @param address canonical */
export function isLinkLocal(address: string): boolean {
  return ipaddr.parse(address).range() === 'linkLocal';
}

/** Whether a connection to this address stays on this machine: loopback, the unspecified address, or one of its interfaces. */
export function isOfThisMachine(address: string): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return false;
  if (['loopback', 'unspecified'].includes(ipaddr.parse(canonical).range())) return true;
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return own.some((one) => canonicalAddress(one.address) === canonical);
}

/**
 * Whether a connection stays on this machine. Some addresses of a machine are on no interface, such as that of a cloud's
 * load balancer, which has only a local route: the system then sends from the address itself, or from loopback.
 */
export function isToThisMachine({
  localAddress,
  remoteAddress,
}: Pick<Socket, 'localAddress' | 'remoteAddress'>): boolean {
  const [local, remote] = [localAddress, remoteAddress].map((one) => canonicalAddress(one ?? ''));
  if (local === undefined || remote === undefined) return false;
  return local === remote || isLoopback(local) || isOfThisMachine(remote);
}
