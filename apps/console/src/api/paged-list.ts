import { isSlipwayError, type Page } from '@slipway/sdk';
import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { REFRESH_MS } from './query-client.js';

const PAGE_SIZE = 100;
/**
 * As many pages as a browser draws without delay and a person reads; for more,
 * filters and the command line work better.
 */
const MOST_PAGES = 5;

export interface PageRequest {
  limit: number;
  cursor?: string;
  /** Absent for the newest first. */
  order?: 'asc';
  signal: AbortSignal;
}

/**
 * Reads a list of the api page by page, as the reader requests more. It refreshes itself while there is only one
 * page: then no rows move while they are read.
 */
export function usePagedList<Row>(
  queryKey: QueryKey,
  read: (request: PageRequest) => PromiseLike<Page<Row>>,
  /** Whether the api can send the list in both orders of time, as it can most lists. */
  { isByTime = true }: { isByTime?: boolean } = {},
) {
  const [order, setOrder] = useState<'asc' | undefined>();
  const query = useInfiniteQuery({
    queryKey: [...queryKey, 'pages', order],
    queryFn: async ({ pageParam, signal }): Promise<Page<Row>> =>
      read({ limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }), ...(order && { order }), signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: ({ state: { data, error } }) => (isSettled(data?.pages.length, error) ? false : REFRESH_MS),
  });
  const pages = query.data?.pages;
  const rows = useMemo(() => pages?.flatMap(({ data }) => data), [pages]);
  const hasMore = query.hasNextPage;
  return {
    rows,
    error: query.error,
    moreError: query.isFetchNextPageError ? query.error : null,
    isReadingMore: query.isFetchingNextPage,
    hasMore,
    /** There are more rows than are shown here. */
    isFull: hasMore && pages !== undefined && pages.length >= MOST_PAGES,
    isOldestFirst: order === 'asc',
    /** Reads the list from its other end, because rows that were not read cannot be sorted. */
    reverse: isByTime ? () => setOrder(order ? undefined : 'asc') : undefined,
    readMore: () => void query.fetchNextPage(),
    readAgain: () => void query.refetch(),
  };
}

/** A refusal stays until the reader requests the list again. */
const isSettled = (pages: number | undefined, error: unknown): boolean =>
  pages === undefined ? isSlipwayError(error) && !error.retryable : pages > 1;
