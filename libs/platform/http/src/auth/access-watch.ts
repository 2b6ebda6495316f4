import { errors, type Principal, SlipwayError } from '../index.js';

/** How often the access behind an open request is checked without a notification: a token may expire. */
const CHECK_EVERY_MS = 5_000;

/** A request that is under way for longer than its first check holds. */
interface WatchedRequest {
  principal: Principal;
  /** Identifies the caller again. */
  identify: () => Promise<Principal>;
  onEnd: (refusal: SlipwayError) => void;
}

/** Notices that the access behind requests under way has ended. */
export class AccessWatch {
  private readonly watched = new Set<WatchedRequest>();
  private timer: NodeJS.Timeout | undefined;

  /**
   * Calls `onEnd` once if the caller loses its access, or a part of it, before the returned function is called. While it
   * lasts, it renews what the access of the principal rests on, because a session renews its bearer.
   */
  watch(principal: Principal, identify: () => Promise<Principal>, onEnd: (refusal: SlipwayError) => void): () => void {
    const request = { principal, identify, onEnd };
    this.watched.add(request);
    this.timer ??= setInterval(() => this.onTimer(), CHECK_EVERY_MS).unref();
    return () => void this.watched.delete(request);
  }

  /** It ends the timer, because most requests are shorter than a check, and a timer for each would cost more than it. */
  private onTimer(): void {
    if (this.watched.size > 0) return this.recheck('');
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** @param tokenId of the token that has changed; anything may have changed if it is empty */
  recheck(tokenId: string): void {
    for (const request of this.watched) {
      const { type, id } = request.principal.actor;
      // The access of a person rests on more than a token, so every notification may be about it.
      if (tokenId === '' || type !== 'token' || id === tokenId) void this.check(request);
    }
  }

  private async check(request: WatchedRequest): Promise<void> {
    const refusal = await refusalOf(request);
    if (!refusal || !this.watched.delete(request)) return;
    request.onEnd(refusal);
  }
}

async function refusalOf({ principal, identify }: WatchedRequest): Promise<SlipwayError | undefined> {
  try {
    const { tenantId, scopes, access } = await identify();
    if (tenantId !== principal.tenantId) return errors.unauthenticated();
    for (const scope of principal.scopes) if (!scopes.has(scope)) return errors.scope_insufficient();
    principal.access = access;
    return undefined;
  } catch (failure) {
    return isAccessRefusal(failure) ? failure : undefined;
  }
}

/**
 * Whether a caller that is identified again has no access any more. A wrong credential is answered with 429 if there
 * were too many from its address. Any other failure is no refusal: while Postgres is down, nothing can be revoked.
 */
export function isAccessRefusal(failure: unknown): failure is SlipwayError {
  return failure instanceof SlipwayError && [401, 403, 429].includes(failure.status);
}
