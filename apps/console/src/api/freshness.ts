import { isSlipwayError } from '@slipway/sdk';
import { useQueryClient, type QueryState } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/**
 * The age of the oldest data on the screen: the time when the api last answered one of the screen's failing requests.
 * `failing` is the reason why the last attempt of one failed.
 */
export interface Freshness {
  since: number;
  failing: Error | null;
}

/** The same object as long as nothing changes, because React compares. */
let last: Freshness = { since: Number.POSITIVE_INFINITY, failing: null };

export function useFreshness(): Freshness {
  const cache = useQueryClient().getQueryCache();
  const read = (): Freshness => {
    const watched = cache.getAll().filter((query) => query.getObserversCount() > 0 && query.queryKey[0] !== 'session');
    const { since, failing } = freshnessOf(watched.map(({ state }) => state));
    if (since !== last.since || failing !== last.failing) last = { since, failing };
    return last;
  };
  return useSyncExternalStore((changed) => cache.subscribe(changed), read);
}

export type ReadState = Pick<QueryState, 'dataUpdatedAt' | 'error' | 'fetchFailureReason'>;

/** Combines the states of the screen's requests. */
export function freshnessOf(asked: readonly ReadState[]): Freshness {
  const failed = asked.filter(isOld);
  return {
    since: Math.min(...failed.map(({ dataUpdatedAt }) => dataUpdatedAt || Number.POSITIVE_INFINITY)),
    failing: failed[0] ? failureOf(failed[0]) : null,
  };
}

function failureOf({ fetchFailureReason, error }: ReadState): Error | null {
  return (fetchFailureReason ?? error) as Error | null;
}

/** A refusal is an answer, and the screen shows it; but earlier data on the screen is old nevertheless. */
function isOld(state: ReadState): boolean {
  const failure = failureOf(state);
  if (!failure) return false;
  const isRefusal = isSlipwayError(failure) && !failure.retryable && (failure.status ?? 500) < 500;
  return !isRefusal || state.dataUpdatedAt > 0;
}
