import { useQueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';

/**
 * How old the oldest data on the screen is: since when the api last answered one of the screen's own questions. `failing` says that
 * the last try of one came to nothing, and why.
 */
export interface Freshness {
  since: number;
  failing: Error | null;
}

/** The same object as long as nothing changed: React compares. */
let last: Freshness = { since: Number.POSITIVE_INFINITY, failing: null };

export function useFreshness(): Freshness {
  const cache = useQueryClient().getQueryCache();
  const read = (): Freshness => {
    const watched = cache.getAll().filter((query) => query.getObserversCount() > 0 && query.queryKey[0] !== 'session');
    const failed = watched.filter((query) => query.state.fetchFailureCount > 0 || query.state.status === 'error');
    const since = Math.min(...failed.map((query) => query.state.dataUpdatedAt || Number.POSITIVE_INFINITY));
    const failing = (failed[0]?.state.fetchFailureReason ?? failed[0]?.state.error ?? null) as Error | null;
    if (since !== last.since || failing !== last.failing) last = { since, failing };
    return last;
  };
  return useSyncExternalStore((changed) => cache.subscribe(changed), read);
}
