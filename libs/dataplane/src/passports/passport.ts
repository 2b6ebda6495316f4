import { createHmac, type KeyObject } from 'node:crypto';
import type { KeyRing } from '@slipway/platform-config/load';

export type SessionSource = 'x-session-id' | 'session_id' | 'prompt_cache_key' | 'user' | 'declared';
export type RebindReason = 'target_unhealthy' | 'revision_retired' | 'weights_changed' | 'ttl_expired' | 'capacity';

/** An expired passport can still be looked at for a day. The area Routing deletes it then, because gateways only add. */
export const PASSPORT_RETENTION_SECONDS = 86_400;

/** The key passports are made with; another current key begins sessions anew. Make it once per process. */
export function passportKey(keyRing: Pick<KeyRing, 'derive'>): KeyObject {
  return keyRing.derive('slipway context passport');
}

/**
 * The id of a session's passport: known to every gateway without a database, and of no use for finding the session key.
 * NUL separates the parts, as in `slotOf`.
 */
export function passportId(key: KeyObject, tenantId: string, deploymentId: string, session: string): string {
  return `cp_${createHmac('sha256', key).update(`${tenantId}\0${deploymentId}\0${session}`).digest('hex').slice(0, 32)}`;
}

/** What is stored instead of the session key: equal for equal keys of one tenant, whatever the deployment. */
export function sessionKeyHash(key: KeyObject, tenantId: string, session: string): string {
  return createHmac('sha256', key).update(`session\0${tenantId}\0${session}`).digest('hex');
}
