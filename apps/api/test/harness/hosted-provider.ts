import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { exportJWK, generateKeyPair, type JWK } from 'jose';

export const AUDIENCE = 'https://slipway.test/api';

/** Makes a signing key with its private part, as the provider reads it. */
export async function makeKey(kid: string, alg = 'ES256'): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  return { ...(await exportJWK(privateKey)), kid, alg, use: 'sig' };
}

/**
 * A real OpenID provider (oidc-provider) in a separate process, so that it can be killed and restarted with other keys.
 */
export class HostedProvider {
  private child?: ChildProcess;
  private port = 0;

  /**
   * @param clients organization by client id; a client's id is the `sub` of its tokens
   * @param people organization by `sub`, of the people who sign in to the console
   */
  constructor(
    private readonly clients: Record<string, string>,
    private readonly people: Record<string, string> = {},
    private readonly console?: { redirectUri: string; accessTokenSeconds: number },
  ) {}

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get environment(): Record<string, string> {
    return {
      SLIPWAY_IDENTITY_PROVIDER: 'acme-id',
      SLIPWAY_IDENTITY_ISSUER: this.issuer,
      SLIPWAY_IDENTITY_AUDIENCE: AUDIENCE,
      SLIPWAY_IDENTITY_JWKS_URL: `${this.issuer}/jwks`,
    };
  }

  /** Starts, or restarts on the same port, with these keys. */
  async start(keys: JWK[]): Promise<void> {
    this.child = fork(fileURLToPath(new URL('./oidc-provider.mjs', import.meta.url)), { execArgv: [], silent: true });
    this.child.send({
      port: this.port,
      audience: AUDIENCE,
      jwks: { keys },
      clients: this.clients,
      people: this.people,
      console: this.console,
    });
    const [{ port }] = (await once(this.child, 'message')) as [{ port: number }];
    this.port = port;
  }

  async stop(): Promise<void> {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await gone;
  }

  /** Revokes every grant of a person, including refresh tokens. */
  async revoke(sub: string): Promise<void> {
    const revoked = once(this.child as ChildProcess, 'message');
    this.child?.send({ revoke: sub });
    await revoked;
  }

  /**
   * Acts as a person's browser at the provider, from the console's redirect to the provider's redirect back.
   * @param sub the person; undefined for a person who cancels
   */
  async visit(url: string, sub?: string): Promise<string> {
    const jar = new Map<string, string>();
    for (let at = url; ;) {
      const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
      const answer = await fetch(at, { headers, redirect: 'manual' });
      const text = await answer.text();
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        jar.set(name, value);
      }
      const location = answer.headers.get('location');
      if (location === null) throw new Error(`the provider answered ${answer.status}: ${text}`);
      const next = new URL(location, at);
      if (next.origin !== this.issuer) return next.href;
      if (next.pathname.startsWith('/interaction/') && sub !== undefined) next.searchParams.set('as', sub);
      at = next.href;
    }
  }

  /** Returns an access token that the provider itself issues. */
  async token(client: string): Promise<string> {
    const answer = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${client}:secret-of-${client}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE }),
    });
    const body = (await answer.json()) as { access_token?: string };
    if (!body.access_token) throw new Error(`the provider issued no token: ${JSON.stringify(body)}`);
    return body.access_token;
  }
}
