import { randomUUID } from 'node:crypto';
import type { Session } from './session.js';

/** The key of one call, made where none is given: told before it is sent, so that whoever is cut off can adopt the request. */
export function toldKey(session: Session, given?: string): string {
  const key = given ?? randomUUID();
  session.note(`Idempotency key: ${key}`);
  return key;
}
