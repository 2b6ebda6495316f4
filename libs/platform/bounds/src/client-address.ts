import { BlockList, isIP } from 'node:net';

/** Addresses of the proxies whose X-Forwarded-For is trusted. */
export type ProxyList = BlockList;

/**
 * @param text addresses and networks, such as `10.0.0.7, 10.1.0.0/16, fd00::/8`
 * @throws Error that names the first invalid entry
 */
export function proxyList(text: string): ProxyList {
  const list = new BlockList();
  for (const entry of text.split(',').map((one) => one.trim())) {
    const [address = '', bits, more] = entry.split('/');
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    if (
      version === 0 ||
      more !== undefined ||
      (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most))
    )
      throw new Error(`must be addresses or networks, not '${entry}'`);
    list.addSubnet(address, Number(bits ?? most), version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * Returns the address of the client. This is the peer of the connection or, if the peer is a trusted proxy, the last
 * address in X-Forwarded-For that is not a trusted proxy. The entries before it come from the client and prove nothing.
 * @param peer address of the other end of the connection; undefined if it has closed
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
  proxies: ProxyList | undefined,
): string {
  let address = peer ?? '';
  if (!proxies) return address;
  const forwarded = [forwardedFor ?? []].flat().join(',').split(',');
  for (;;) {
    if (!isTrusted(address, proxies)) return address;
    const before = forwarded.pop()?.trim();
    if (before === undefined || isIP(before) === 0) return address;
    address = before;
  }
}

function isTrusted(address: string, proxies: ProxyList): boolean {
  const version = isIP(address);
  return version !== 0 && proxies.check(address, version === 6 ? 'ipv6' : 'ipv4');
}
