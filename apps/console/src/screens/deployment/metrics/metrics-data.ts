import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { slipway } from '../../../api/client.js';
import { REFRESH_MS } from '../../../api/query-client.js';
import { attemptsOf } from './metric-series.js';

/** The range of the charts in seconds, by the word in the address. */
export const RANGES: Readonly<Record<string, number>> = { '5m': 300, '15m': 900, '1h': 3_600, '3h': 10_800 };
export const DEFAULT_RANGE = '15m';

const MINUTE_MS = 60_000;

export const useMetrics = (name: string, range: string) =>
  useQuery({
    queryKey: ['metrics', name, range],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - (RANGES[range] ?? RANGES[DEFAULT_RANGE]!) * 1_000).toISOString();
      return slipway.deployments.metrics(name, { from, signal });
    },
    refetchInterval: REFRESH_MS,
    placeholderData: keepPreviousData,
  });

/**
 * Returns the requests of the last minute by revision: the actual traffic, next to the
 * desired traffic. Undefined if it is unknown.
 */
export function useRecentRequests(name: string): ReadonlyMap<string, number> | undefined {
  const { data } = useQuery({
    queryKey: ['metrics', name, 'last minute'],
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - MINUTE_MS).toISOString();
      return slipway.deployments.metrics(name, { from, step: 60, signal });
    },
    refetchInterval: REFRESH_MS,
  });
  return data && new Map(data.data.map(({ revision, total }) => [revision, attemptsOf(total)]));
}
