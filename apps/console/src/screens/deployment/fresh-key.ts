import { useMemo } from 'react';

/**
 * An idempotency key that stays the same as long as the request does: a second click after a lost
 * answer adopts the first request, and a different request gets its own key. `crypto.randomUUID` is
 * missing if the page is served without https.
 */
export const useFreshKey = (request: string): string => useMemo(() => newKey(request), [request]);

function newKey(_request: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
