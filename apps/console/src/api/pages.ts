import { useInfiniteQuery, type QueryKey, type UseInfiniteQueryResult } from '@tanstack/react-query';
import { REFRESH_MS } from './query-client.js';

export interface RowPage<Row> {
  data: Row[];
  next_cursor: string | null;
}

interface PagesOptions<Row> {
  queryKey: QueryKey;
  /** One page, behind the cursor. */
  read: (given: { cursor?: string; limit: number; signal: AbortSignal }) => PromiseLike<RowPage<Row>>;
  isEnabled?: boolean;
}

/** Of a page; the api gives no more. */
const PAGE_ROWS = 200;
/** Every page that was asked for is read anew each time: nobody reads on through more than these. */
const MOST_PAGES = 5;

export interface Pages<Row> {
  rows: Row[];
  query: UseInfiniteQueryResult<unknown, Error>;
  /** Reads the next page; undefined where there is none, or where these are enough. */
  more: (() => void) | undefined;
}

/** A list, page by page as it is asked for. What it shows stays fresh by itself. */
export function usePages<Row>({ queryKey, read, isEnabled = true }: PagesOptions<Row>): Pages<Row> {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) =>
      read({ ...(pageParam && { cursor: pageParam }), limit: PAGE_ROWS, signal }),
    initialPageParam: '',
    getNextPageParam: (last, all) => (all.length < MOST_PAGES && last.next_cursor) || undefined,
    refetchInterval: REFRESH_MS,
    enabled: isEnabled,
  });
  return {
    rows: query.data?.pages.flatMap(({ data }) => data) ?? [],
    query,
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
  };
}
