import type { IncomingHttpHeaders } from 'node:http';

/**
 * Not forwarded: what belongs to one connection (RFC 9110, 7.6.1), what is made again, the client's credentials, and what is meant
 * for the gateway itself. `accept-encoding` is left out so that answers can be metered.
 */
const NOT_FORWARDED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'content-type',
  'accept-encoding',
  'authorization',
  'api-key',
  'x-api-key',
  'cookie',
  'x-session-id',
  'x-request-id',
  'x-slipway-tenant',
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]);

/** Names that a `connection` header marks as belonging to it go too. */
export function upstreamHeaders(
  client: IncomingHttpHeaders,
  requestId: string,
  authorization: string | null,
): string[] {
  const headers = ownHeaders(requestId, authorization);
  const named = client.connection;
  const ofConnection =
    named && named !== 'keep-alive' && named !== 'close' ? named.toLowerCase().split(/\s*,\s*/) : undefined;
  for (const name in client) {
    if (NOT_FORWARDED.has(name) || ofConnection?.includes(name)) continue;
    const value = client[name];
    if (typeof value === 'string') headers.push(name, value);
    else for (const one of value ?? []) headers.push(name, one);
  }
  return headers;
}

/** A supplier learns nothing about the client: no address, no client library, no trace, no id of ours. */
export function supplierHeaders(isStream: boolean, authorization: string | null): string[] {
  const headers = [
    'content-type',
    'application/json',
    'accept',
    isStream ? 'text/event-stream' : 'application/json',
    'user-agent',
    'slipway',
  ];
  if (authorization) headers.push('authorization', authorization);
  return headers;
}

function ownHeaders(requestId: string, authorization: string | null): string[] {
  const headers = ['content-type', 'application/json', 'x-request-id', requestId];
  if (authorization) headers.push('authorization', authorization);
  return headers;
}
