import { isSlipwayError, type AnswerOf } from '@slipway/sdk';
import { queryOptions } from '@tanstack/react-query';
import { slipway } from './client.js';
import { REFRESH_MS } from './query-client.js';

/** The state of the service; null if the api is too old to report it. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ signal }): Promise<AnswerOf<'getSystem'> | null> => {
    try {
      return await slipway.system({ signal });
    } catch (error) {
      if (isSlipwayError(error, 'not_found')) return null;
      throw error;
    }
  },
  refetchInterval: REFRESH_MS,
});
