import { Logger } from '@nestjs/common';
import { retryAfterMs } from '@slipway/contracts';
import {
  errors as jose,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type CryptoKey,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
} from 'jose';
import { errors } from '@slipway/platform-http';

export interface ProviderKeyTimes {
  /** Keys older than this are fetched again, so that a key that the provider withdrew is not trusted for ever. */
  maxAgeMs: number;
  /** An unknown key id causes a new fetch, but not more often than this: anyone can invent key ids. */
  cooldownMs: number;
  timeoutMs: number;
}

const TIMES: ProviderKeyTimes = { maxAgeMs: 600_000, cooldownMs: 10_000, timeoutMs: 5_000 };
/** Time between two requests to an unreachable provider. */
const RETRY_MS = 1_000;
/** The longest `Retry-After` of the provider that is obeyed, because users with a new key cannot sign in meanwhile. */
const LONGEST_WAIT_MS = 60_000;

/**
 * The public keys of the identity provider. They come only from the configured URL; keys in a token's header (jwk, jku,
 * x5u, x5c) are ignored. While the provider is unavailable, the keys known so far remain in use.
 */
export class ProviderKeys {
  private readonly logger = new Logger('identity');
  private readonly remote: ReturnType<typeof createRemoteJWKSet>;
  private retryAt = 0;
  /** The wait that the provider requested with its last answer. */
  private requestedMs = 0;

  /** @param fetch for the request, if it is not the runtime's own */
  constructor(url: string, times: Partial<ProviderKeyTimes> = {}, fetch: typeof globalThis.fetch = globalThis.fetch) {
    const { maxAgeMs, cooldownMs, timeoutMs } = { ...TIMES, ...times };
    this.remote = createRemoteJWKSet(new URL(url), {
      cacheMaxAge: maxAgeMs,
      cooldownDuration: cooldownMs,
      timeoutDuration: timeoutMs,
      [customFetch]: async (...request) => {
        this.requestedMs = 0;
        const answer = await fetch(...request);
        this.noteWait(answer);
        return answer;
      },
    });
  }

  /**
   * Returns the key that a token's header names.
   * @throws a JOSEError if the provider has no such key; unavailable (503) if the provider cannot be reached
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (performance.now() < this.retryAt) return this.fromCache(header, token);
    try {
      return await this.remote(header, token);
    } catch (failure) {
      if (isRefusal(failure)) throw failure;
      this.logger.warn(
        `Could not fetch the keys of the identity provider: ${failure instanceof Error ? failure.message : String(failure)}`,
      );
      this.retryAt = performance.now() + Math.max(RETRY_MS, Math.min(this.requestedMs, LONGEST_WAIT_MS));
      return this.fromCache(header, token);
    }
  }

  private noteWait({ status, headers }: Response): void {
    if (status !== 429 && status !== 503) return;
    this.requestedMs =
      retryAfterMs(headers.get('retry-after') ?? undefined, headers.get('date') ?? undefined, Date.now()) ?? 0;
  }

  private async fromCache(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const known = this.remote.jwks();
    if (!known) throw unavailable();
    try {
      return await createLocalJWKSet(known)(header, token);
    } catch (refusal) {
      // The provider may have a new key, but cannot be reached at the moment.
      if (refusal instanceof jose.JWKSNoMatchingKey) throw unavailable();
      throw refusal;
    }
  }
}

/** Whether the keys were fetched, and the token's key is not among them or does not fit. */
function isRefusal(failure: unknown): boolean {
  return (
    failure instanceof jose.JWKSNoMatchingKey ||
    failure instanceof jose.JWKSMultipleMatchingKeys ||
    failure instanceof jose.JOSENotSupported
  );
}

function unavailable(): Error {
  return errors.unavailable({ message: 'The identity provider cannot be reached.', headers: { 'retry-after': '2' } });
}
