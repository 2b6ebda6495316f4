import { Slipway, withinTime } from '@slipway/sdk';

/** The addresses of the api's operations and of the gateway for a browser: behind its session, on its own origin. */
export const API_ROOT = `${location.origin}/console`;
export const GATEWAY_ROOT = `${location.origin}/console/gateway/v1`;

/** The answer of `/console/session`. */
export interface Session {
  signed_in: boolean;
  /** The available methods to sign in. */
  methods: ('token' | 'hosted')[];
  /** The gateway's address for clients outside the browser. */
  gateway: string;
  /** The identity provider's name in grants of access: each installation has its own name for it. */
  identity_provider: string;
  method?: 'token' | 'hosted';
  /** Sent with every request that changes something, as `x-csrf-token`. */
  csrf?: string;
  expires_at?: string | null;
}

/** Short attempts: a page that waits half a minute for a silent api shows nothing. */
const TIMEOUT_MS = 10_000;

let csrf = '';

/** `fetch` with the session's proof that the request comes from this page, not from another site. */
export const sessionFetch: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  headers.set('x-csrf-token', csrf);
  // The session is the credential: the bearer of the SDK has no meaning here.
  headers.delete('authorization');
  return fetch(input, { ...init, headers, credentials: 'same-origin' });
};

/** The header that `sessionFetch` sends, for an upload that must report its progress: only `XMLHttpRequest` can. */
export const csrfProof = (): Record<string, string> => ({ 'x-csrf-token': csrf });

export const slipway = new Slipway({
  baseUrl: API_ROOT,
  token: 'session',
  fetch: sessionFetch,
  timeoutMs: TIMEOUT_MS,
  maxRetries: 1,
});

export function readSession(left?: AbortSignal): Promise<Session> {
  return withinTime(TIMEOUT_MS, left, async (signal) =>
    remember(await fetch('/console/session', { signal, credentials: 'same-origin' })),
  );
}

export function signIn(token: string): Promise<Session> {
  return withinTime(TIMEOUT_MS, undefined, async (signal) => {
    const answer = await fetch('/console/session', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
      credentials: 'same-origin',
      signal,
    });
    return remember(answer);
  });
}

export async function signOut(): Promise<void> {
  await withinTime(TIMEOUT_MS, undefined, (signal) => sessionFetch('/console/session', { method: 'DELETE', signal }));
}

async function remember(answer: Response): Promise<Session> {
  const body = (await answer.json().catch(() => undefined)) as (Session & { error?: { message?: string } }) | undefined;
  if (!answer.ok || !body) throw new Error(body?.error?.message ?? `The API returned status ${answer.status}.`);
  csrf = body.csrf ?? '';
  return body;
}
