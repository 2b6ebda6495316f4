import type { ReactNode } from 'react';
import { Button } from './button.js';
import { ErrorNote } from './error-note.js';
import { WholeList } from './fitted-table.js';
import { Waiting } from './waiting.js';

/** A list that is read page by page: the result of `usePagedList`. */
export interface Pages<Row> {
  rows: Row[] | undefined;
  error: Error | null;
  /** Why there is no page after the last one. */
  moreError: Error | null;
  hasMore: boolean;
  isFull: boolean;
  isReadingMore: boolean;
  isOldestFirst: boolean;
  reverse: (() => void) | undefined;
  readMore: () => void;
  readAgain: () => void;
}

/** Rows that another list has read. */
export const loadedRows = <Row,>(rows: Row[]): Pages<Row> => ({
  rows,
  error: null,
  moreError: null,
  hasMore: false,
  isFull: false,
  isReadingMore: false,
  isOldestFirst: false,
  reverse: undefined,
  readMore: () => undefined,
  readAgain: () => undefined,
});

interface RowListProps<Row> {
  list: Pages<Row>;
  what: string;
  /** Shown if there are no rows at all. */
  empty: ReactNode;
  /** How to see the rows beyond those shown here. */
  beyond?: string;
  children: (rows: Row[]) => ReactNode;
}

/** The rows of a list, or why there are none, and below them how to see more. */
export function RowList<Row>({ list, what, empty, beyond, children }: RowListProps<Row>) {
  const { rows, error } = list;
  if (!rows) return error ? <ErrorNote error={error} onAgain={list.readAgain} /> : <Waiting for={what} />;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div className="space-y-2">
      <WholeList value={!list.hasMore}>{children(rows)}</WholeList>
      {list.isFull && (
        <p className="text-sm text-soft">
          Only the first {rows.length} are shown. {beyond}
        </p>
      )}
      {list.moreError && <ErrorNote error={list.moreError} />}
      {(list.hasMore || list.isOldestFirst) && (
        <div className="flex flex-wrap items-center gap-2">
          {list.hasMore && !list.isFull && (
            <Button isBusy={list.isReadingMore} onClick={list.readMore}>
              Load more
            </Button>
          )}
          {list.reverse && (
            <Button onClick={list.reverse}>{list.isOldestFirst ? 'Show newest first' : 'Show oldest first'}</Button>
          )}
          {list.hasMore && !list.isFull && <span className="text-xs text-soft">Load all rows to sort them.</span>}
        </div>
      )}
    </div>
  );
}
