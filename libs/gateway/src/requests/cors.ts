import type { IncomingMessage, ServerResponse } from 'node:http';

/** Headers that scripts may read in addition to those that browsers always show. */
const EXPOSED = [
  ...['x-request-id', 'x-slipway-revision', 'x-affinity', 'x-slipway-held-ms', 'x-context-passport'],
  ...['retry-after', 'retry-after-ms', 'x-should-retry', 'www-authenticate', 'allow'],
  ...['limit-requests', 'limit-tokens', 'remaining-requests', 'remaining-tokens', 'reset-requests', 'reset-tokens'].map(
    (one) => `x-ratelimit-${one}`,
  ),
].join(', ');
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]{1,4096}$/;
const PREFLIGHT_SECONDS = '600';

/**
 * Lets pages of some origins read the gateway's answers. It allows no cookies: a page authenticates with a token.
 */
export class CorsPolicy {
  private readonly origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.origins = new Set(origins);
  }

  get isOn(): boolean {
    return this.origins.size > 0;
  }

  /** Adds what a browser needs to any answer, so that a page can also read an error. */
  mark({ headers }: IncomingMessage, response: ServerResponse): void {
    if (!this.isOn) return;
    response.setHeader('vary', 'origin');
    if (!this.isAllowed(headers.origin)) return;
    response.setHeader('access-control-allow-origin', headers.origin as string);
    response.setHeader('access-control-expose-headers', EXPOSED);
  }

  /** Whether a browser requests permission for the request of a page that may send it. */
  isPreflight({ method, headers }: IncomingMessage): boolean {
    return (
      method === 'OPTIONS' && headers['access-control-request-method'] !== undefined && this.isAllowed(headers.origin)
    );
  }

  /**
   * Permits any header, because the gateway ignores those that it does not know.
   * @param methods that the path serves
   */
  permit({ headers }: IncomingMessage, response: ServerResponse, methods: string, requestId: string): void {
    const names = headers['access-control-request-headers'];
    response.writeHead(204, {
      vary: 'origin, access-control-request-method, access-control-request-headers',
      'access-control-allow-methods': methods,
      ...(names !== undefined && HEADER_NAMES.test(names) && { 'access-control-allow-headers': names }),
      'access-control-max-age': PREFLIGHT_SECONDS,
      'x-request-id': requestId,
    });
    response.end();
  }

  private isAllowed(origin: string | undefined): boolean {
    return origin !== undefined && this.origins.has(origin);
  }
}
