import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { newId } from '@slipway/platform-database';

const TOKEN = /^slw_([A-Za-z0-9-]{1,64})_([\x21-\x7e]{32,512})$/;
const PREFIX = 'tok';

/** A token as its holder sends it, taken apart. */
export interface TokenParts {
  /** Id of the row in `api_tokens`. */
  id: string;
  secret: string;
}

/** `slw_<id>_<secret>`, or undefined where the text is something else (a JWT, garbage). */
export function parseToken(text: string): TokenParts | undefined {
  const match = TOKEN.exec(text);
  return match ? { id: `${PREFIX}_${match[1]}`, secret: match[2]! } : undefined;
}

/** A new token: its row's id, and the text that is shown once. The secret has 256 random bits. */
export function makeToken(): TokenParts & { text: string } {
  const id = newId(PREFIX);
  const secret = randomBytes(32).toString('base64url');
  return { id, secret, text: `slw_${id.slice(PREFIX.length + 1)}_${secret}` };
}

/** What is stored of a secret. A plain hash suffices: no dictionary holds 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** Compares in a time that does not depend on where the two differ. */
export function isSecret(secret: string, stored: Buffer): boolean {
  const given = hashSecret(secret);
  return stored.length === given.length && timingSafeEqual(given, stored);
}
