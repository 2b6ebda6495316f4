import { endedToken, expiredToken, type GatewayError } from '../gateway.errors.js';
import type { Clock } from '../postgres/database-clock.js';

/** The part of a token that decides whether it has ended. */
interface EndingToken {
  readonly id: string;
  readonly secretHash: Buffer;
  readonly expiresAt: number | null;
}

/** A request that no engine has yet. */
export interface UnsentRequest {
  /** Called once, when its token has ended. */
  end(error: GatewayError): void;
}

interface WatchedToken {
  requests: Set<UnsentRequest>;
  timer: NodeJS.Timeout | null;
}

/** The clock of Postgres may be corrected while a timer runs, so no timer is longer. */
const LONGEST_TIMER_MS = 60_000;

/**
 * Requests that wait for something while their token may end. The end of a token comes by notification, or by one timer
 * for all requests of the token: no request asks for it.
 */
export class TokenEnds {
  private readonly watched = new Map<string, WatchedToken>();

  constructor(
    private readonly clock: Clock,
    private readonly tokenOf: (id: string) => EndingToken | undefined,
  ) {}

  watch({ id }: Pick<EndingToken, 'id'>, request: UnsentRequest): void {
    let watched = this.watched.get(id);
    if (!watched) {
      watched = { requests: new Set(), timer: null };
      this.watched.set(id, watched);
    }
    watched.requests.add(request);
    // It stays when the requests are gone: a new one for each request would cost more than all of the rest.
    if (watched.timer === null) this.arm(id, watched);
  }

  release({ id }: Pick<EndingToken, 'id'>, request: UnsentRequest): void {
    const watched = this.watched.get(id);
    watched?.requests.delete(request);
    if (watched?.requests.size === 0 && watched.timer === null) this.watched.delete(id);
  }

  /** Returns why a token that was accepted before is refused now; undefined if it is not. Queries nothing. */
  endOf(token: EndingToken): GatewayError | undefined {
    const known = this.tokenOf(token.id);
    if (!known || (known !== token && !known.secretHash.equals(token.secretHash))) return endedToken();
    return known.expiresAt !== null && known.expiresAt <= this.clock.now() ? expiredToken() : undefined;
  }

  /** Call it when a token was read again, is gone, or has another secret. */
  changed(id: string, before: EndingToken): void {
    const watched = this.watched.get(id);
    if (!watched) return;
    if (watched.timer) clearTimeout(watched.timer);
    watched.timer = null;
    this.settle(id, watched, this.endOf(before));
  }

  private arm(id: string, watched: WatchedToken): void {
    const expiresAt = this.tokenOf(id)?.expiresAt ?? null;
    if (expiresAt === null) return;
    const leftMs = Math.ceil(Math.max(0, expiresAt - this.clock.now()));
    watched.timer = setTimeout(() => this.onTimer(id, watched), Math.min(leftMs, LONGEST_TIMER_MS));
    watched.timer.unref();
  }

  private onTimer(id: string, watched: WatchedToken): void {
    watched.timer = null;
    const token = this.tokenOf(id);
    this.settle(id, watched, token ? this.endOf(token) : endedToken());
  }

  /** Ends the requests if there is an error. The others are watched further. */
  private settle(id: string, watched: WatchedToken, error: GatewayError | undefined): void {
    if (error) this.end(watched, error);
    if (watched.requests.size > 0) this.arm(id, watched);
    else this.watched.delete(id);
  }

  private end({ requests }: WatchedToken, error: GatewayError): void {
    const ended = [...requests];
    requests.clear();
    for (const request of ended) request.end(error);
  }
}
