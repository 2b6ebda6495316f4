import { Logger } from '@nestjs/common';
import {
  errors as jose,
  createLocalJWKSet,
  createRemoteJWKSet,
  type CryptoKey,
  type FlattenedJWSInput,
  type JWSHeaderParameters,
} from 'jose';
import { errors } from '@slipway/platform-http';

export interface ProviderKeyTimes {
  /** Keys older than this are fetched again, so that one the provider withdrew is not trusted for ever. */
  maxAgeMs: number;
  /** An unknown key id makes us look again, but not more often than this: anybody can invent key ids. */
  cooldownMs: number;
  timeoutMs: number;
}

const TIMES: ProviderKeyTimes = { maxAgeMs: 600_000, cooldownMs: 10_000, timeoutMs: 5_000 };
/** How long an unreachable provider is left alone. */
const RETRY_MS = 1_000;

/**
 * The public keys of the identity provider. They come from the configured URL alone; what a token's header says about keys
 * (jwk, jku, x5u, x5c) is not looked at. While the provider is away, the keys known so far go on answering.
 */
export class ProviderKeys {
  private readonly logger = new Logger('identity');
  private readonly remote: ReturnType<typeof createRemoteJWKSet>;
  private retryAt = 0;

  constructor(url: string, times: Partial<ProviderKeyTimes> = {}) {
    const { maxAgeMs, cooldownMs, timeoutMs } = { ...TIMES, ...times };
    this.remote = createRemoteJWKSet(new URL(url), {
      cacheMaxAge: maxAgeMs,
      cooldownDuration: cooldownMs,
      timeoutDuration: timeoutMs,
    });
  }

  /**
   * The key that a token's header names.
   * @throws a JOSEError if the provider has no such key; unavailable (503) if it cannot be asked
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (Date.now() < this.retryAt) return this.fromCache(header, token);
    try {
      return await this.remote(header, token);
    } catch (failure) {
      if (isRefusal(failure)) throw failure;
      this.logger.warn(
        `Could not fetch the keys of the identity provider: ${failure instanceof Error ? failure.message : String(failure)}`,
      );
      this.retryAt = Date.now() + RETRY_MS;
      return this.fromCache(header, token);
    }
  }

  private async fromCache(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    const known = this.remote.jwks();
    if (!known) throw unavailable();
    try {
      return await createLocalJWKSet(known)(header, token);
    } catch (refusal) {
      // The provider may have a new key that nobody can ask it for just now.
      if (refusal instanceof jose.JWKSNoMatchingKey) throw unavailable();
      throw refusal;
    }
  }
}

/** Whether the keys were had and the token's is not among them, or does not fit. */
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
