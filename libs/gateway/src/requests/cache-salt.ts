import { createHmac, type KeyObject } from 'node:crypto';
import type { KeyRing } from '@slipway/platform-config/load';

/** Derive it once per process. All gateways have the same key, and with another one engines fill their caches anew. */
export function cacheSaltKey(keyRing: Pick<KeyRing, 'derive'>): KeyObject {
  return keyRing.derive('slipway cache salt');
}

/**
 * Returns the member of a body that replaces a client's `cache_salt`, encoded as JSON; nothing if the client sent none.
 * Engines reuse a computed prefix only for requests with the same salt. The times of answers show whether a prefix was
 * reused, so a tenant that could send the salt of another could guess its prompts.
 */
export function cacheSaltMember(
  key: KeyObject,
  tenantId: string,
  model: string,
  sent: unknown,
): Readonly<Record<string, string>> {
  if (typeof sent !== 'string') return {};
  const salt = createHmac('sha256', key)
    .update(JSON.stringify([tenantId, model, sent]))
    .digest('base64url');
  return { cache_salt: JSON.stringify(salt) };
}
