import type { IncomingHttpHeaders } from 'node:http';

/**
 * Of a client's headers an engine gets these, and those that the operator names: engines obey headers that no client of a gateway should
 * set (`X-Conversation-Id` keeps llama-server generating after a disconnect; others have switches for debugging), and a new one comes
 * with every release. `accept-encoding` is left out so that answers can be metered.
 */
const PASSED = ['accept', 'traceparent', 'tracestate'];

/** @param further names that the operator adds, lower case */
export function upstreamHeaders(
  client: IncomingHttpHeaders,
  requestId: string,
  authorization: string | null,
  further: readonly string[],
): string[] {
  const headers = [...ownHeaders(authorization), 'x-request-id', requestId];
  for (const name of PASSED) pass(name, client, headers);
  for (const name of further) pass(name, client, headers);
  return headers;
}

/** A supplier learns nothing about the client: no address, no client library, no trace, no id of ours. */
export function supplierHeaders(isStream: boolean, authorization: string | null): string[] {
  return [...ownHeaders(authorization), 'accept', isStream ? 'text/event-stream' : 'application/json'];
}

function ownHeaders(authorization: string | null): string[] {
  const headers = ['content-type', 'application/json', 'user-agent', 'slipway'];
  if (authorization) headers.push('authorization', authorization);
  return headers;
}

function pass(name: string, client: IncomingHttpHeaders, headers: string[]): void {
  const value = client[name];
  if (value === undefined) return;
  if (typeof value === 'string') headers.push(name, value);
  else for (const one of value) headers.push(name, one);
}
