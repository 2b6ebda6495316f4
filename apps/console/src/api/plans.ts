import { queryOptions } from '@tanstack/react-query';
import { slipway } from './client.js';
import type { Plan } from './items.js';

const MOST_WAITING = 100;
/** Plans are rare, and every screen shows how many wait. */
const RENEWED_MS = 15_000;

/** The plans that wait for approval, the one that expires first at the top. A stale one cannot be approved. */
export const waitingPlansQuery = queryOptions({
  queryKey: ['plans', 'waiting'],
  queryFn: async ({ signal }) => {
    const { data, next_cursor } = await slipway.autopilot.plans.list({ state: 'pending', limit: MOST_WAITING, signal });
    const plans = data.filter(({ stale, expires_at }) => !stale && Date.parse(expires_at) > Date.now());
    return { plans: plans.sort(byExpiry), hasMore: next_cursor !== null };
  },
  refetchInterval: RENEWED_MS,
});

const byExpiry = (one: Plan, other: Plan): number => Date.parse(one.expires_at) - Date.parse(other.expires_at);

/** `3`, or `100+` if there are more than were read. */
export const waitingCount = ({ plans, hasMore }: { plans: readonly Plan[]; hasMore: boolean }): string =>
  `${plans.length}${hasMore ? '+' : ''}`;
