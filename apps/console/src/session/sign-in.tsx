import { useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { signIn, type Session } from '../api/client.js';
import { sessionQuery } from '../api/who.js';
import { Button } from '../ui/button.js';
import { ErrorNote } from '../ui/error-note.js';
import { TextField } from '../ui/field.js';

/** Why the hosted sign-in led back here, as `/console/callback` says it in the address. */
const WHY_NOT: Record<string, string> = {
  expired: 'The sign-in took too long, or was begun in another window. Begin it again.',
  refused: 'The identity provider has refused the sign-in.',
  not_granted:
    'You are known to the identity provider, but nobody has granted you access here. An admin does: Access, or `slipway access`.',
  unavailable: 'The identity provider does not answer. Try again in a moment.',
  too_many: 'Too many sign-ins from here. Wait a minute.',
};

export function SignIn({ session, hasEnded }: { session: Session; hasEnded: boolean }) {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
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
      {hasEnded && <p role="status">Your session has ended. Sign in again; this page stays where it was.</p>}
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
              After <code>npm start</code> on this machine it stands in <code>.slipway/bootstrap-token</code>. The
              browser keeps a session, not the token.
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
