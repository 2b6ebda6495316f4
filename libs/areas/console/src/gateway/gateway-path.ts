import { errors } from '@slipway/platform-http';

/** What a request target may be made of (RFC 3986); anything else is no honest client's. */
const TARGET = /^\/v1\/[\w.~!$&'()*+,;=:@%/?-]+$/;

/**
 * Where a request of the playground goes at the gateway: its inference paths alone, however a path is written.
 * @param target path and query after the proxy's own prefix
 * @throws not_found, path_invalid
 */
export function gatewayTarget(target: string): string {
  if (!TARGET.test(target)) throw errors.not_found();
  const path = target.split('?', 1)[0] as string;
  const hasDots = decoded(path)
    .split(/[/\\]/)
    .some((segment) => segment === '.' || segment === '..');
  if (hasDots) throw errors.not_found();
  return target;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw errors.path_invalid();
  }
}
