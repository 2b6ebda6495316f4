import { createHmac, type KeyObject } from 'node:crypto';
import type { KeyRing } from '@slipway/platform-config/load';

export type SessionSource = 'x-session-id' | 'session_id' | 'prompt_cache_key' | 'user' | 'declared';
export type RebindReason = 'target_unhealthy' | 'revision_retired' | 'weights_changed' | 'ttl_expired' | 'capacity';

/**
 * An expired passport stays readable for a day. The area Routing deletes it then, because gateways only add passports.
 */
export const PASSPORT_RETENTION_SECONDS = 86_400;

/**
 * Returns the key that creates passports; with another current key, sessions start anew. Create it once per process.
 */
export function passportKey(keyRing: Pick<KeyRing, 'derive'>): KeyObject {
  return keyRing.derive('slipway context passport');
}

/**
 * Returns the id of a session's passport. Every gateway can compute it without a database, and it does not reveal the
 * session key. NUL separates the parts, as in `slotOf`.
 */
export function passportId(key: KeyObject, tenantId: string, deploymentId: string, session: string): string {
  return `cp_${createHmac('sha256', key).update(`${tenantId}\0${deploymentId}\0${session}`).digest('hex').slice(0, 32)}`;
}

/**
 * Returns the hash that is stored instead of the session key: equal for equal keys of one tenant, in every deployment.
 */
export function sessionKeyHash(key: KeyObject, tenantId: string, session: string): string {
  return createHmac('sha256', key).update(`session\0${tenantId}\0${session}`).digest('hex');
}
