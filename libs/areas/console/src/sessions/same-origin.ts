import { isIP } from 'node:net';
import type { Config } from '@slipway/platform-config';
import { errors, type SlipwayRequest } from '@slipway/platform-http';
import { consoleErrors } from '../console.errors.js';

type Headers = SlipwayRequest['headers'];
type Console = Pick<Config['console'], 'isOn' | 'publicUrl'>;

/**
 * Refuses requests that a page of another origin made a browser send. Other ports of this machine count as the same
 * site: cookies are sent to them and come from them. So `SameSite` alone is not enough.
 * @param served `publicUrl`: the only origin of the console; without one, any whose host is no name that others could
 * point here (DNS rebinding)
 * @throws host_refused, origin_refused; not_found if the console is off
 */
export function assertOwnOrigin(headers: Headers, served: Console): void {
  assertOwnHost(headers.host, served);
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw consoleErrors.origin_refused();
  const { origin } = headers;
  if (origin !== undefined && origin !== (served.publicUrl ?? `http://${headers.host}`))
    throw consoleErrors.origin_refused();
}

/** The same for navigations, which the identity provider's pages may begin. @throws host_refused, not_found */
export function assertOwnHost(host: string | undefined, { isOn, publicUrl }: Console): void {
  if (!isOn) throw errors.not_found();
  const isOwn = publicUrl === undefined ? isLocalName(host) : host?.toLowerCase() === new URL(publicUrl).host;
  if (!isOwn) throw consoleErrors.host_refused();
}

/** With one of these, it is a part of a URL, whose host a parser has to find. */
const NO_HOST = /[\s/?#@\\]/;

function isLocalName(host = ''): boolean {
  const url = `http://${host}`;
  if (host === '' || NO_HOST.test(host) || !URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
