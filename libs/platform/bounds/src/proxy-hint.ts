/** Requests in a row that look as if proxies sent them. */
const ENOUGH = 50;
/** More addresses than this are clients that send the header themselves. */
const MOST_PROXIES = 8;

/**
 * Notices that proxies are probably in front of this process, although no trusted proxy is set: all latest requests came
 * from a few addresses and have X-Forwarded-For. Then all clients count as those few addresses, for example when failed
 * attempts are limited.
 */
export class ProxyHint {
  /** Requests in a row of each address. */
  private readonly seen = new Map<string, number>();
  private isDone = false;

  /**
   * @param warn is called once, with the text for the log
   * @param isProxyTrusted whether trusted proxies are set: then there is nothing to notice
   */
  constructor(
    private readonly warn: (text: string) => void,
    isProxyTrusted: boolean,
  ) {
    this.isDone = isProxyTrusted;
  }

  note(peer: string | undefined, forwardedFor: string | string[] | undefined): void {
    if (this.isDone) return;
    const isForwarded = peer !== undefined && forwardedFor !== undefined;
    const isOneOfFew = isForwarded && (this.seen.has(peer) || this.seen.size < MOST_PROXIES);
    if (!isOneOfFew) this.seen.clear();
    if (!isForwarded) return;
    const times = (this.seen.get(peer) ?? 0) + 1;
    this.seen.set(peer, times);
    if (times < ENOUGH) return;
    this.isDone = true;
    this.warn(textFor(this.proxies()));
  }

  /** A stranger may also send the header, but hardly as often as a proxy. */
  private proxies(): string[] {
    const often = [...this.seen].filter(([, times]) => times >= ENOUGH / 2);
    return often.map(([peer]) => peer.replace(/^::ffff:/i, '')).sort();
  }
}

function textFor(addresses: readonly string[]): string {
  const named = addresses.join(' and ');
  const isOne = addresses.length === 1;
  return (
    `The latest requests all came from ${named} with X-Forwarded-For, but SLIPWAY_TRUSTED_PROXIES is not set, so all clients count as ${isOne ? 'one' : addresses.length}. ` +
    `If ${named} ${isOne ? 'is your proxy' : 'are your proxies'}, set SLIPWAY_TRUSTED_PROXIES=${addresses.join(',')}.`
  );
}
