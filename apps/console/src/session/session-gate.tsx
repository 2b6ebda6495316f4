import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, type ReactNode, useState, type FormEvent } from 'react';
import { sessionQuery } from '../api/who.js';
import { ErrorNote } from '../ui/error-note.js';
import { useWindowTitle } from '../ui/panel.js';
import { Waiting } from '../ui/waiting.js';
import { signIn, type Session } from '../api/client.js';
import { Button } from '../ui/button.js';
import { TextField } from '../ui/field.js';

/** Why the hosted sign-in led back here, as `/console/callback` writes it into the address. */
const WHY_NOT: Record<string, string> = {
  expired: 'The sign-in took too long, or was started in another window. Sign in again.',
  refused: 'The identity provider rejected the sign-in.',
  not_granted:
    'The identity provider knows you, but you have no access here. Ask an admin to grant it on the Access page or with `slipway access grant`.',
  unavailable: 'The identity provider does not respond. Try again in a moment.',
  too_many:
    'The identity provider refused the sign-in, as it did many others from this address. Wait a minute, then try again.',
};

function SignIn({ session, hasEnded }: { session: Session; hasEnded: boolean }) {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  useWindowTitle('Sign in');
  const why = WHY_NOT[new URLSearchParams(location.search).get('sign_in') ?? ''];

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setFailure(undefined);
    try {
      client.setQueryData(sessionQuery.queryKey, await signIn(token.trim()));
    } catch (error) {
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="mx-auto flex min-h-screen max-w-md flex-col justify-center gap-4 p-6">
      <h1 className="text-2xl font-semibold">Slipway</h1>
      {hasEnded && <p role="status">Your session has ended. Sign in again to return to this page.</p>}
      {why && <ErrorNote error={new Error(why)} />}
      {session.methods.includes('hosted') && (
        <a
          href={`/console/sign-in?return_to=${encodeURIComponent(location.pathname + location.search.replace(/[?&]sign_in=[^&]*/, ''))}`}
          className="inline-flex min-h-9 items-center justify-center rounded-md bg-accent px-3 text-sm font-medium text-accent-text"
        >
          Sign in with your identity provider
        </a>
      )}
      <form onSubmit={(event) => void submit(event)} className="space-y-3 rounded-lg border border-line bg-panel p-4">
        <TextField
          label="API token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={token}
          onChange={(event) => setToken(event.target.value)}
          placeholder="slw_…"
          hint={
            <>
              After <code>npm start</code> on this machine, the token is in <code>.slipway/bootstrap-token</code>. The
              browser stores a session, not the token.
            </>
          }
        />
        {failure !== undefined && <ErrorNote error={failure} />}
        <Button type="submit" kind="primary" isBusy={isBusy} disabled={token.trim() === ''} className="w-full">
          Sign in
        </Button>
      </form>
    </main>
  );
}

/** Shows the console to a signed-in person. If the api is away, the screen keeps what it shows. */
export function SessionGate({ children }: { children: ReactNode }) {
  const session = useQuery(sessionQuery);
  const client = useQueryClient();
  const wasSignedIn = useRef(false);
  const isSignedIn = session.data?.signed_in ?? false;

  useEffect(() => {
    // The data of one person must not be shown to the next person at this browser.
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
        <Waiting for="the API" />
      )}
    </main>
  );
}
