/** Requests in a row that look as if a proxy sent them. */
const ENOUGH = 50;

/**
 * Notices that a proxy is probably in front of this process, although no trusted proxy is set: all latest requests came
 * from one address and have X-Forwarded-For. Then all clients count as that one address, for example when failed
 * attempts are limited.
 */
export class ProxyHint {
  private peer = '';
  private seen = 0;
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
    if (peer === undefined || forwardedFor === undefined) {
      this.seen = 0;
      return;
    }
    this.seen = peer === this.peer ? this.seen + 1 : 1;
    this.peer = peer;
    if (this.seen < ENOUGH) return;
    this.isDone = true;
    const address = peer.replace(/^::ffff:/i, '');
    this.warn(
      `The latest ${ENOUGH} requests all came from ${address} with X-Forwarded-For, but SLIPWAY_TRUSTED_PROXIES is not set, so all clients count as one. ` +
        `If ${address} is your proxy, set SLIPWAY_TRUSTED_PROXIES=${address}.`,
    );
  }
}
