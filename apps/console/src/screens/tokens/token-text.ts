import type { ItemOf } from '@slipway/sdk';

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;

/** How the token begins where somebody finds it in a file or a log: `slw_<id>_` and the secret. */
export const prefixOf = (id: string): string => `slw_${id.replace(/^tok_/, '')}_…`;

export function endsSoon({ state, expires_at }: Pick<ItemOf<'listTokens'>, 'state' | 'expires_at'>, now: number) {
  return state === 'active' && Date.parse(expires_at) - now < SOON_MS;
}

/** The bootstrap token ends with the calendar, not with a date anybody set. */
export const isEndless = (expiresAt: string): boolean => expiresAt.startsWith('9999-');

/** The moment in so many days as the api takes it. */
export const inDays = (days: number, now: number): string => new Date(now + days * DAY_MS).toISOString();
