import { hash, timingSafeEqual } from 'node:crypto';

const TOKEN = /^slw_([A-Za-z0-9-]{1,64})_([\x21-\x7e]{32,512})$/;
const ROW_PREFIX = 'tok_';

/** An API token as its holder sends it, taken apart. */
export interface TokenParts {
  /** Id of the row in `api_tokens`. */
  id: string;
  secret: string;
}

/** What is known about a token when it is judged. */
export interface TokenFacts {
  /** `hashSecret` of its secret. */
  secretHash: Buffer;
  isRevoked: boolean;
  isExpired: boolean;
}

/** `wrong`: unknown, forged or revoked; its holder learns no more than that. */
export type TokenCheckResult = 'valid' | 'wrong' | 'expired';

/** Reads `slw_<id>_<secret>`; undefined for any other text (a JWT, garbage). */
export function parseToken(text: string): TokenParts | undefined {
  const match = TOKEN.exec(text);
  return match ? { id: ROW_PREFIX + match[1], secret: match[2] as string } : undefined;
}

/** The text that `parseToken` reads. */
export function tokenText({ id, secret }: TokenParts): string {
  return `slw_${id.slice(ROW_PREFIX.length)}_${secret}`;
}

/** SHA-256. A plain hash is enough: no dictionary holds 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Judges a secret against what is known of its token. Takes as long for a wrong secret as for a right one. */
export function checkToken(facts: TokenFacts | undefined, secret: string): TokenCheckResult {
  if (!facts) return 'wrong';
  const given = hashSecret(secret);
  const isRight = facts.secretHash.length === given.length && timingSafeEqual(given, facts.secretHash);
  if (!isRight || facts.isRevoked) return 'wrong';
  return facts.isExpired ? 'expired' : 'valid';
}
