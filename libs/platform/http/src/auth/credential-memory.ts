import { hash } from 'node:crypto';
import { parseToken } from '@slipway/contracts';
import { AddressRate } from '@slipway/platform-bounds';
import { errors, SlipwayError, type Principal } from '../index.js';

/** A refused credential is asked for again after this long, should the notification of a token's making be lost. */
const REFUSED_FOR_MS = 1_000;
/** Of an address: credentials that nobody has. Those that are somebody's count for nothing. Fewer than a gateway takes: a JWT costs more. */
const WRONG_PER_MINUTE = 120;
const MAX_REMEMBERED = 10_000;

/**
 * What this process remembers of credentials, so that guessing them costs the database little. It lets nobody in: a credential that was
 * valid is looked up at each of its requests, and is only not counted as a guess. In memory by SHA-256, per process.
 */
export class CredentialMemory {
  private readonly wrong = new AddressRate(WRONG_PER_MINUTE);
  /** The oldest first. */
  private readonly valid = new Set<string>();
  private readonly refused = new Map<string, { refusal: SlipwayError; until: number }>();
  /** Counts what was told: a refusal that was read before the last of it is not remembered. */
  private generation = 0;

  /**
   * @param addressOf the client; asked for only where the credential is not known as somebody's
   * @throws what `authenticate` throws, or threw a moment ago; rate_limited where the address has brought too much that is nobody's
   */
  async authenticate(
    credential: string,
    addressOf: () => string,
    authenticate: () => Promise<Principal>,
  ): Promise<Principal> {
    const key = hash('sha256', credential, 'base64');
    const { generation } = this;
    if (this.valid.has(key)) {
      try {
        return await authenticate();
      } catch (failure) {
        if (isRefusal(failure)) this.noteRefused(key, credential, failure, generation);
        throw failure;
      }
    }
    const refused = this.refused.get(key);
    if (refused && refused.until > Date.now()) throw refused.refusal;
    const address = addressOf();
    this.take(address);
    try {
      const principal = await authenticate();
      this.wrong.giveBack(address);
      this.noteValid(key);
      return principal;
    } catch (failure) {
      if (isRefusal(failure)) this.noteRefused(key, credential, failure, generation);
      else this.wrong.giveBack(address);
      throw failure;
    }
  }

  /** A token has been made or changed: what was refused may be valid now. */
  forgetRefusals(): void {
    this.generation += 1;
    this.refused.clear();
  }

  private take(address: string): void {
    const waitSeconds = this.wrong.take(address);
    if (waitSeconds === undefined) return;
    throw errors.rate_limited({
      message: 'Too many credentials that are not valid have come from this address.',
      headers: { 'retry-after': String(waitSeconds) },
    });
  }

  private noteValid(key: string): void {
    if (this.valid.has(key)) return;
    if (this.valid.size >= MAX_REMEMBERED) this.valid.delete(this.valid.values().next().value as string);
    this.valid.add(key);
  }

  private noteRefused(key: string, credential: string, refusal: SlipwayError, generation: number): void {
    // What a provider signed may be granted access at any moment, which nobody tells; and nobody guesses a signature.
    const isToken = parseToken(credential) !== undefined;
    if (!isToken || generation !== this.generation) return;
    this.valid.delete(key);
    if (this.refused.size >= MAX_REMEMBERED) this.refused.clear();
    this.refused.set(key, { refusal, until: Date.now() + REFUSED_FOR_MS });
  }
}

function isRefusal(failure: unknown): failure is SlipwayError {
  return failure instanceof SlipwayError && failure.status === 401;
}
