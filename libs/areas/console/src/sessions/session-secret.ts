import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto';

const SECRET = /^[\w-]{43}$/;

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** What stands in the database: who reads it there has no session. Undefined for what cannot be a secret. */
export function sessionIdOf(secret: string | undefined): string | undefined {
  return secret !== undefined && SECRET.test(secret) ? hash('sha256', secret, 'hex') : undefined;
}

/** Another page of the same site can have the cookie sent, but reads neither it nor this. */
export function csrfOf(secret: string): string {
  return createHmac('sha256', secret).update('slipway console csrf').digest('base64url');
}

export function isCsrfOf(secret: string, given: unknown): boolean {
  if (typeof given !== 'string') return false;
  const [mine, theirs] = [Buffer.from(csrfOf(secret)), Buffer.from(given)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}
