import type { Scope } from '../index.js';

/** From the least to the most; each includes those before it. */
export const SCOPES: readonly Scope[] = ['viewer', 'operator', 'admin'];

/** The given scopes and all they include. */
export function withIncluded(scopes: Iterable<string>): ReadonlySet<Scope> {
  const highest = Math.max(-1, ...[...scopes].map((scope) => SCOPES.indexOf(scope as Scope)));
  return new Set(SCOPES.slice(0, highest + 1));
}
