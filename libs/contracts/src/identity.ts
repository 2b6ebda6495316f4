import { hash, timingSafeEqual } from 'node:crypto';

export const OWNER_TYPES = ['person', 'service'] as const;

/** The owner of a credential: a person, or a program (`service`). All tokens of one owner count as one in decisions. */
export interface Owner {
  type: (typeof OWNER_TYPES)[number];
  id: string;
}

export function isSameOwner(one: Owner, other: Owner): boolean {
  return one.type === other.type && one.id === other.id;
}

export function isAmongOwners(owners: readonly Owner[], owner: Owner): boolean {
  return owners.some((one) => isSameOwner(one, owner));
}

/** Returns an actor as a person of its own: `user:ada` for a person who signs in at the hosted provider. */
export function personOf(actor: Actor): Owner {
  return { type: 'person', id: actorText(actor) };
}

/**
 * Returns whether an owner's id has the form of an actor's text. Clients may not choose such a name: it would be that
 * actor's.
 */
export function isActorText(ownerId: string): boolean {
  return /^(user|token|system):/i.test(ownerId);
}

/** The author of an action: a token, a signed-in person (`user`), or a part of the product itself (`system`). */
export interface Actor {
  type: string;
  id: string;
  /**
   * Name of the token or the person at the time of the action; null or absent if unknown. For readers: it decides
   * nothing, because anybody may give a token any name.
   */
  name?: string | null;
}

/** Returns `token:tok_1`, as events, audit rows and `created_by` columns write an actor. */
export function actorText({ type, id }: Actor): string {
  return `${type}:${id}`;
}

export function isSameActor(one: Actor, other: Actor): boolean {
  return one.type === other.type && one.id === other.id;
}

/** Returns a part of the product that acts by itself, such as `worker` or `reconciler`. */
export function systemActor(id: string): Actor {
  return { type: 'system', id };
}

/** The worker that runs the steps of an operation. */
export const WORKER: Actor = systemActor('worker');

const TOKEN = /^slw_([A-Za-z0-9-]{1,64})_([\x21-\x7e]{32,512})$/;
const ROW_PREFIX = 'tok_';

/** The parts of an API token as its holder sends it. */
export interface TokenParts {
  /** Id of the row in `api_tokens`. */
  id: string;
  secret: string;
}

/** The stored facts by which a token is judged. */
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

/** Returns the text that `parseToken` reads. */
export function tokenText({ id, secret }: TokenParts): string {
  return `slw_${id.slice(ROW_PREFIX.length)}_${secret}`;
}

/** SHA-256. A plain hash is enough: no dictionary holds 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Judges a secret by the facts of its token. Takes as long for a wrong secret as for the right one. */
export function checkToken(facts: TokenFacts | undefined, secret: string): TokenCheckResult {
  if (!facts) return 'wrong';
  const given = hashSecret(secret);
  const isRight = facts.secretHash.length === given.length && timingSafeEqual(given, facts.secretHash);
  if (!isRight || facts.isRevoked) return 'wrong';
  return facts.isExpired ? 'expired' : 'valid';
}
