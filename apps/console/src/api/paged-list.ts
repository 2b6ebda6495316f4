import { isSlipwayError, type Page } from '@slipway/sdk';
import { useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import { useMemo } from 'react';
import { REFRESH_MS } from './query-client.js';

const PAGE_SIZE = 100;
/** What a browser draws without stuttering, and a person reads; beyond it filters and the command line serve better. */
const MOST_PAGES = 5;

export interface PageRequest {
  limit: number;
  cursor?: string;
  signal: AbortSignal;
}

/** A list of the api, page by page as the reader asks for more. It renews itself while there is one page: then nothing moves under a reader. */
export function usePagedList<Row>(queryKey: QueryKey, read: (request: PageRequest) => PromiseLike<Page<Row>>) {
  const query = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: async ({ pageParam, signal }): Promise<Page<Row>> =>
      read({ limit: PAGE_SIZE, ...(pageParam && { cursor: pageParam }), signal }),
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
    readMore: () => void query.fetchNextPage(),
    readAgain: () => void query.refetch(),
  };
}

/** What was refused stays refused until somebody asks again. */
const isSettled = (pages: number | undefined, error: unknown): boolean =>
  pages === undefined ? isSlipwayError(error) && !error.retryable : pages > 1;
