import { isSlipwayError } from '@slipway/sdk';
import { QueryCache, QueryClient } from '@tanstack/react-query';

/** The interval of repeated requests; a screen whose data has its own events polls less often. */
export const REFRESH_MS = 5_000;

/** The minimum between two attempts of failed requests, however many answers arrive in between. */
const AGAIN_MS = 2_000;

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    // The api answers again: requests that failed while it was away are repeated now, not at their
    // next interval, which may be a minute away.
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
      // The session has ended (revoked, expired, signed out elsewhere): the frame checks it, and shows the sign-in.
      if (
        isSlipwayError(error, 'unauthenticated', 'token_expired', 'console_access_revoked') &&
        query.queryKey[0] !== 'session'
      )
        void queryClient.invalidateQueries({ queryKey: ['session'] });
    },
  }),
  defaultOptions: {
    queries: {
      // The SDK retries what can be retried; a second layer would only multiply the waits.
      retry: false,
      staleTime: 1_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      // "Online" is the browser's view of the network; the api may be on this machine.
      networkMode: 'always',
    },
    mutations: { retry: false, networkMode: 'always' },
  },
});
