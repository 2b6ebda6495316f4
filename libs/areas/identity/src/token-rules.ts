import type { Principal, Scope, FieldIssue } from '@slipway/platform-http';

const DAY_MS = 86_400_000;
export const DEFAULT_DAYS = 90;
export const MAX_DAYS = 365;

/** When a token expires if nobody says so. */
export function defaultExpiry(now: Date): Date {
  return new Date(now.getTime() + DEFAULT_DAYS * DAY_MS);
}

/** What speaks against a token with these scopes and this expiry being made by this caller; empty = nothing. */
export function tokenObjections(
  who: Pick<Principal, 'scopes'>,
  scopes: readonly Scope[],
  expiresAt: Date,
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
  if (expiresAt.getTime() > now.getTime() + MAX_DAYS * DAY_MS) {
    issues.push({ field: 'expires_at', code: 'max', message: `expires_at must be at most ${MAX_DAYS} days from now` });
  }
  return issues;
}
