import type { ItemOf } from '@slipway/sdk';

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;

/** Returns the beginning of the token, as a person finds it in a file or a log: `slw_<id>_` and the secret. */
export const prefixOf = (id: string): string => `slw_${id.replace(/^tok_/, '')}_…`;

export function endsSoon({ state, expires_at }: Pick<ItemOf<'listTokens'>, 'state' | 'expires_at'>, now: number) {
  return state === 'active' && Date.parse(expires_at) - now < SOON_MS;
}

/** The bootstrap token expires at the end of the calendar, not at a chosen date. */
export const isEndless = (expiresAt: string): boolean => expiresAt.startsWith('9999-');
