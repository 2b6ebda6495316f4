import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNote } from './error-note.js';
import { Waiting } from './waiting.js';

/** Shows a query's data if there is any (the frame shows its age), or else why there is none. */
export function Loaded<Data>({
  query,
  what,
  children,
}: {
  query: UseQueryResult<Data, Error>;
  what: string;
  children: (data: Data) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.error) return <ErrorNote error={query.error} onAgain={() => void query.refetch()} />;
  return <Waiting for={what} />;
}
