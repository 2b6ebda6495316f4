import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode } from 'react';
import { sessionQuery } from '../api/who.js';
import { ErrorNote } from '../ui/error-note.js';
import { Waiting } from '../ui/waiting.js';
import { SignIn } from './sign-in.js';

/** Shows the console to those who are signed in. An api that is away hides nothing that is on the screen already. */
export function SessionGate({ children }: { children: ReactNode }) {
  const session = useQuery(sessionQuery);
  const client = useQueryClient();
  const wasSignedIn = useRef(false);
  const isSignedIn = session.data?.signed_in ?? false;

  useEffect(() => {
    // What one person has read is not for the next one at this browser.
    if (wasSignedIn.current && !isSignedIn)
      client.removeQueries({ predicate: (query) => query.queryKey[0] !== 'session' });
    wasSignedIn.current = isSignedIn;
  }, [isSignedIn, client]);

  if (isSignedIn) return <>{children}</>;
  if (session.data) return <SignIn session={session.data} hasEnded={wasSignedIn.current} />;
  return (
    <main className="mx-auto max-w-xl p-6">
      <h1 className="sr-only">Slipway</h1>
      {session.error ? (
        <ErrorNote error={session.error} onAgain={() => void session.refetch()} />
      ) : (
        <Waiting for="the api" />
      )}
    </main>
  );
}
