import { isSlipwayError } from '@slipway/sdk';
import { QueryCache, QueryClient } from '@tanstack/react-query';

/** What asks again by itself; a screen whose data has events of its own asks less often. */
export const REFRESH_MS = 5_000;

/** Between two tries of what failed, however many answers come meanwhile. */
const AGAIN_MS = 2_000;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // The api answers again: what failed while it was away is asked now, not at its next turn, which may be a minute off.
    onSuccess: () =>
      void queryClient.refetchQueries({
        type: 'active',
        predicate: ({ state: { status, fetchStatus, error, errorUpdatedAt } }) =>
          status === 'error' &&
          fetchStatus === 'idle' &&
          isSlipwayError(error) &&
          error.retryable &&
          Date.now() - errorUpdatedAt > AGAIN_MS,
      }),
    onError: (error, query) => {
      // The session has ended (revoked, expired, signed out elsewhere): the frame asks, and shows the sign-in.
      if (
        isSlipwayError(error, 'unauthenticated', 'token_expired', 'console_access_revoked') &&
        query.queryKey[0] !== 'session'
      )
        void queryClient.invalidateQueries({ queryKey: ['session'] });
    },
  }),
  defaultOptions: {
    queries: {
      // The SDK repeats what may be repeated; a second layer would only multiply the waits.
      retry: false,
      staleTime: 1_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      // "Online" is what the browser thinks of the network; the api may be on this machine.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
