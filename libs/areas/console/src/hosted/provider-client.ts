import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { operatorFetch } from '@slipway/platform-egress';
import type { Configuration, CustomFetch, TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client';
import type { SessionCredentials } from '../sessions/console-sessions.js';

/** The sealed state that a browser keeps while the person is at the provider. */
export interface Handshake {
  verifier: string;
  state: string;
  nonce: string;
  returnTo: string;
  /** Milliseconds since 1970. */
  endsAt: number;
}

export interface ProviderAnswer {
  userId: string;
  /** Tokens that the api may accept as a bearer, the likeliest first. */
  bearers: string[];
  refresh?: string;
  bearerEndsAt?: number;
}

/** The provider refused: the code or the refresh token is not, or no longer, valid. */
export class ProviderRefusal extends Error {}

const TIMEOUT_SECONDS = 5;
/** Codes of openid-client for valid answers of the provider that refuse. */
const REFUSALS = new Set(['OAUTH_RESPONSE_BODY_ERROR', 'OAUTH_AUTHORIZATION_RESPONSE_ERROR']);

type TokenAnswer = TokenEndpointResponse & TokenEndpointResponseHelpers;

/** The hosted identity provider from the console's view: authorization code with PKCE, and refresh tokens. */
@Injectable()
export class ProviderClient {
  readonly isConfigured: boolean;
  private readonly audience: string;
  private readonly callback: string;
  private readonly fetch?: CustomFetch;
  private found?: Promise<Configuration>;

  constructor(@Inject(CONFIG) private readonly config: Pick<Config, 'console' | 'identity' | 'outboundProxy'>) {
    const { identity, console, outboundProxy } = config;
    this.isConfigured = identity.clientId !== undefined;
    this.audience = identity.audience ?? '';
    this.callback = `${console.publicUrl}/console/callback`;
    // Built once: each has its own connections.
    this.fetch = outboundProxy && (operatorFetch(outboundProxy) as CustomFetch);
  }

  /** @throws any error that prevents a request to the provider */
  async begin(returnTo: string, endsAt: number): Promise<{ url: URL; handshake: Handshake }> {
    const client = await library();
    const provider = await this.discovered();
    const handshake = {
      verifier: client.randomPKCECodeVerifier(),
      state: client.randomState(),
      nonce: client.randomNonce(),
      returnTo,
      endsAt,
    };
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: this.callback,
      scope: scopeOf(provider),
      code_challenge: await client.calculatePKCECodeChallenge(handshake.verifier),
      code_challenge_method: 'S256',
      state: handshake.state,
      nonce: handshake.nonce,
      ...this.forAudience(),
    });
    return { url, handshake };
  }

  /**
   * @param query of the callback, unchanged
   * @throws ProviderRefusal; any other error if the provider cannot be reached
   */
  async finish(query: string, { verifier, state, nonce }: Handshake): Promise<ProviderAnswer> {
    const client = await library();
    const provider = await this.discovered();
    const url = new URL(`${this.callback}${query}`);
    const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true };
    const answer = await client
      .authorizationCodeGrant(provider, url, checks, this.forAudience())
      .catch((failure: unknown) => this.raise(failure));
    const { access_token, id_token, refresh_token: refresh } = answer;
    const userId = answer.claims()?.sub ?? '';
    const bearers = this.isOwnAudience ? [id_token, access_token] : [access_token, id_token];
    return {
      userId,
      bearers: bearers.filter((one) => one !== undefined),
      ...(refresh !== undefined && { refresh }),
      bearerEndsAt: endOf(answer),
    };
  }

  /** @throws ProviderRefusal; any other error if the provider cannot be reached */
  async renew(refresh: string): Promise<SessionCredentials> {
    const client = await library();
    const provider = await this.discovered();
    const answer = await client
      .refreshTokenGrant(provider, refresh, this.forAudience())
      .catch((failure: unknown) => this.raise(failure));
    const bearer = this.isOwnAudience ? (answer.id_token ?? answer.access_token) : answer.access_token;
    return { bearer, refresh: answer.refresh_token ?? refresh, bearerEndsAt: endOf(answer) };
  }

  private raise(failure: unknown): never {
    if (REFUSALS.has((failure as { code?: string }).code ?? ''))
      throw new ProviderRefusal(String(failure), { cause: failure });
    throw failure;
  }

  /** The api accepts tokens issued to the console's own client: then the bearer is the id token. */
  private get isOwnAudience(): boolean {
    return this.audience === this.config.identity.clientId;
  }

  /** By RFC 8707, and in the form that older providers expect. Both kinds ignore parameters that they do not know. */
  private forAudience(): Record<string, string> {
    if (this.isOwnAudience) return {};
    return { audience: this.audience, ...(URL.canParse(this.audience) && { resource: this.audience }) };
  }

  /** Discovered at the first sign-in, so that an api starts without its provider. */
  private discovered(): Promise<Configuration> {
    this.found ??= this.discover().catch((failure: unknown) => {
      this.found = undefined;
      throw failure;
    });
    return this.found;
  }

  private async discover(): Promise<Configuration> {
    const client = await library();
    const { issuer = '', clientId = '', clientSecret } = this.config.identity;
    const server = new URL(issuer);
    const authentication = clientSecret === undefined ? client.None() : undefined;
    return client.discovery(server, clientId, clientSecret, authentication, {
      timeout: TIMEOUT_SECONDS,
      ...(this.fetch && { [client.customFetch]: this.fetch }),
      ...(server.protocol === 'http:' && { execute: [client.allowInsecureRequests] }),
    });
  }
}

/** Loaded at the first sign-in: every process builds this module, and most never need it. */
function library(): Promise<typeof import('openid-client')> {
  return import('openid-client');
}

function scopeOf(provider: Configuration): string {
  const offered = provider.serverMetadata().scopes_supported ?? [];
  return ['openid', ...(offered.includes('offline_access') ? ['offline_access'] : [])].join(' ');
}

function endOf(answer: TokenAnswer): number | undefined {
  const seconds = answer.expiresIn();
  return seconds === undefined ? undefined : Date.now() + seconds * 1_000;
}
