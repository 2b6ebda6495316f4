/** Bytes that may be held at a time, by whom. */
export interface ByteBounds {
  process: number;
  tenant: number;
  token: number;
}

/** What one request holds in memory: its own body, and what must be held of an answer to rebuild it. */
export interface HeldBytes {
  /** @throws what the budget was given, where no more may be held */
  take(bytes: number): void;
  /** Some of what was taken. */
  give(bytes: number): void;
  /** All that was taken. May be called again. */
  release(): void;
}

/**
 * Bytes held for requests in flight, bounded for each token, for each tenant and for the process: long bodies of one client leave
 * room for everybody else's. What has arrived counts, not what was announced.
 */
export class ByteBudget {
  private inProcess = 0;
  private readonly byTenant = new Map<string, number>();
  private readonly byToken = new Map<string, number>();

  /** @param refusal made for whose requests hold as much as they may: `this token`, `this tenant` or `all clients` */
  constructor(
    private readonly most: ByteBounds,
    private readonly refusal: (whose: string) => Error,
  ) {}

  /** Of all requests. */
  get held(): number {
    return this.inProcess;
  }

  open(token: { id: string; tenantId: string }): HeldBytes {
    let taken = 0;
    const add = (bytes: number): void => {
      taken += bytes;
      this.inProcess += bytes;
      move(this.byTenant, token.tenantId, bytes);
      move(this.byToken, token.id, bytes);
    };
    return {
      take: (bytes) => {
        if ((this.byToken.get(token.id) ?? 0) + bytes > this.most.token) throw this.refusal('this token');
        if ((this.byTenant.get(token.tenantId) ?? 0) + bytes > this.most.tenant) throw this.refusal('this tenant');
        if (this.inProcess + bytes > this.most.process) throw this.refusal('all clients');
        add(bytes);
      },
      give: (bytes) => add(-bytes),
      release: () => add(-taken),
    };
  }
}

function move(held: Map<string, number>, key: string, bytes: number): void {
  const left = (held.get(key) ?? 0) + bytes;
  if (left === 0) held.delete(key);
  else held.set(key, left);
}
