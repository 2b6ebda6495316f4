import { withinTime } from '@slipway/sdk';
import { queryOptions } from '@tanstack/react-query';
import { GATEWAY_ROOT, sessionFetch } from '../../api/client.js';
import { refusalOf } from '../../api/chat-failure.js';

/** A list to choose from; a person with more models types the name into the address. */
const MOST_MODELS = 500;
const TIMEOUT_MS = 10_000;

/** The models that the gateway offers: deployments with a route, and the publications for this tenant. */
export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: ({ signal: left }): Promise<string[]> =>
    withinTime(TIMEOUT_MS, left, async (signal) => {
      const response = await sessionFetch(`${GATEWAY_ROOT}/models`, { signal });
      if (!response.ok) throw await refusalOf(response);
      const { data } = (await response.json()) as { data: { id: string }[] };
      return data.slice(0, MOST_MODELS).map(({ id }) => String(id));
    }),
  refetchInterval: 15_000,
});

/** A deployment's name never contains a slash, and every slug does. */
export const isSlug = (model: string): boolean => model.includes('/');
