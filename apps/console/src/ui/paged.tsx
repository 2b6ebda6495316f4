import type { ReactNode } from 'react';
import type { Pages } from '../api/pages.js';
import { Button } from './button.js';
import { ErrorNote } from './error-note.js';
import { Waiting } from './waiting.js';

/** The rows of a list that came so far, with a button for those behind them. */
export function Paged<Row>({
  pages: { rows, query, more },
  what,
  children,
}: {
  pages: Pages<Row>;
  what: string;
  children: (rows: Row[]) => ReactNode;
}) {
  if (query.data === undefined)
    return query.error ? (
      <ErrorNote error={query.error} onAgain={() => void query.refetch()} />
    ) : (
      <Waiting for={what} />
    );
  return (
    <>
      {children(rows)}
      {more && (
        <p className="mt-2 flex items-center gap-2 text-sm text-soft">
          <Button isSmall isBusy={query.isFetchingNextPage} onClick={more}>
            More
          </Button>
          {rows.length} so far
        </p>
      )}
    </>
  );
}
