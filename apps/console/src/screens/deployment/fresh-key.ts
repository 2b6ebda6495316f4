import { useMemo } from 'react';

/**
 * An idempotency key that stays as long as the request does: a second press after a lost answer adopts what the first one began, and
 * another request is not taken for it. `crypto.randomUUID` is missing where the page comes without https.
 */
export const useFreshKey = (request: string): string => useMemo(() => newKey(request), [request]);

function newKey(_request: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
