import { randomUUID } from 'node:crypto';
import type { Session } from './session.js';

/**
 * Returns the key of one call, and makes one if none is given. It is printed before the call, so that the caller can
 * adopt the request after a lost connection.
 */
export function toldKey(session: Session, given?: string): string {
  const key = given ?? randomUUID();
  session.note(`Idempotency key: ${key}`);
  return key;
}
