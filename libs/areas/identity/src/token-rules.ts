import { isAmongOwners, type Owner } from '@slipway/contracts';
import type { Principal, Scope, FieldIssue } from '@slipway/platform-http';

const DAY_MS = 86_400_000;
export const DEFAULT_TOKEN_DAYS = 90;
export const MAX_TOKEN_DAYS = 365;
/**
 * A token that would descend from tokens of more owners is refused. A token that forgot the first of these owners would
 * let that owner approve plans of their own making.
 */
export const MAX_TOKEN_MINTERS = 32;

/** How long an old token stays usable after a rotation. */
export const DEFAULT_OVERLAP_SECONDS = 3_600;
export const MAX_OVERLAP_SECONDS = 7 * 86_400;

/** The expiry of a token whose request names none. */
export function defaultExpiry(now: Date): Date {
  return new Date(now.getTime() + DEFAULT_TOKEN_DAYS * DAY_MS);
}

/** The life of a token as a request names it. */
export interface TokenLife {
  expires_at?: string;
  expires_in?: string;
}

/**
 * Returns the expiry that a request names and the field that names it; undefined if it names none.
 * @param life has at most one of its fields
 */
export function namedExpiry(
  { expires_at, expires_in }: TokenLife,
  now: Date,
): { expiresAt: Date; field: keyof TokenLife } | undefined {
  if (expires_at !== undefined) return { expiresAt: new Date(expires_at), field: 'expires_at' };
  if (expires_in === undefined) return undefined;
  return { expiresAt: new Date(now.getTime() + durationMs(expires_in)), field: 'expires_in' };
}

const UNITS_MS: Record<string, number> = { w: 7 * DAY_MS, d: DAY_MS, h: 3_600_000, m: 60_000, s: 1_000 };

/** `1d12h`: the sum of its parts. */
function durationMs(text: string): number {
  return [...text.matchAll(/(\d{1,9})([wdhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit!]!,
    0,
  );
}

/**
 * Returns the expiry of a replacement whose request names none: it lives as long as the old token was made for, within
 * the limit of all tokens.
 */
export function sameLife({ created_at, expires_at }: { created_at: string; expires_at: string }, now: Date): Date {
  const lifeMs = new Date(expires_at).getTime() - new Date(created_at).getTime();
  return new Date(now.getTime() + Math.min(lifeMs, MAX_TOKEN_DAYS * DAY_MS));
}

/**
 * Returns the owners whose tokens led to one that this caller mints: those of the caller's own token, and its owner,
 * each once.
 */
export function mintersOf({ owner, minters }: Pick<Principal, 'owner' | 'minters'>): Owner[] {
  return isAmongOwners(minters, owner) ? [...minters] : [...minters, owner];
}

/**
 * Returns the owners whose tokens led to the replacement of a token: those of the old token, and those of the caller,
 * who learns the new secret and could act with it.
 */
export function rotatorsOf(
  old: Pick<Principal, 'owner' | 'minters'>,
  who: Pick<Principal, 'owner' | 'minters'>,
): Owner[] {
  const all = [...old.minters];
  for (const owner of mintersOf(who)) if (!isAmongOwners(all, owner)) all.push(owner);
  return all;
}

export interface TokenRequest {
  scopes: readonly Scope[];
  expiresAt: Date;
  minters: readonly Owner[];
  /** The field of the request that names the expiry. */
  field?: keyof TokenLife;
}

/** Returns the reasons why this caller must not create such a token; an empty list if there are none. */
export function tokenObjections(
  who: Pick<Principal, 'scopes'>,
  { scopes, expiresAt, minters, field = 'expires_at' }: TokenRequest,
  now: Date,
): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const beyond = scopes.filter((scope) => !who.scopes.has(scope));
  if (beyond.length > 0) {
    issues.push({
      field: 'scopes',
      code: 'beyond_caller',
      message: `scopes must not grant more than the caller has: ${beyond.join(', ')}`,
    });
  }
  if (expiresAt <= now) issues.push({ field, code: 'min', message: `${field} must be in the future` });
  if (expiresAt.getTime() > now.getTime() + MAX_TOKEN_DAYS * DAY_MS) {
    issues.push({ field, code: 'max', message: `${field} must be at most ${MAX_TOKEN_DAYS} days from now` });
  }
  if (minters.length > MAX_TOKEN_MINTERS) {
    const message = `a token can descend from tokens of at most ${MAX_TOKEN_MINTERS} owners, and this one would descend from ${minters.length}`;
    issues.push({ field: 'owner', code: 'max', message });
  }
  return issues;
}
