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

/** The expiry of a token whose request names none. */
export function defaultExpiry(now: Date): Date {
  return new Date(now.getTime() + DEFAULT_TOKEN_DAYS * DAY_MS);
}

/**
 * Returns the owners whose tokens led to one that this caller mints: those of the caller's own token, and its owner,
 * each once.
 */
export function mintersOf({ owner, minters }: Pick<Principal, 'owner' | 'minters'>): Owner[] {
  return isAmongOwners(minters, owner) ? [...minters] : [...minters, owner];
}

export interface TokenRequest {
  scopes: readonly Scope[];
  expiresAt: Date;
  minters: readonly Owner[];
}

/** Returns the reasons why this caller must not create such a token; an empty list if there are none. */
export function tokenObjections(
  who: Pick<Principal, 'scopes'>,
  { scopes, expiresAt, minters }: TokenRequest,
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
  if (expiresAt <= now) issues.push({ field: 'expires_at', code: 'min', message: 'expires_at must be in the future' });
  if (expiresAt.getTime() > now.getTime() + MAX_TOKEN_DAYS * DAY_MS) {
    issues.push({
      field: 'expires_at',
      code: 'max',
      message: `expires_at must be at most ${MAX_TOKEN_DAYS} days from now`,
    });
  }
  if (minters.length > MAX_TOKEN_MINTERS) {
    const message = `a token can descend from tokens of at most ${MAX_TOKEN_MINTERS} owners, and this one would descend from ${minters.length}`;
    issues.push({ field: 'owner', code: 'max', message });
  }
  return issues;
}
