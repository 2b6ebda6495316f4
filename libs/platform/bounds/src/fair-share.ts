/** A key counts as active for this long after its last request. */
const ACTIVE_MS = 5_000;
/** How often waiting uses are checked for their time limit. The timer runs only while something waits. */
const CHECK_EVERY_MS = 100;

export interface ShareBounds {
  /** The most units in use at a time. */
  total: number;
  /** The most units of one key while no other key is active. */
  alone: number;
  /** The most units of one key while another key is active. */
  contended: number;
  /** Whether a key that uses nothing may begin one use at once, even if the total is in use. */
  isFirstFree?: boolean;
  /**
   * A key with waiting uses leaves the resource to keys without, as long as these use it: in so many milliseconds it
   * begins no more units than its part. So a use of many short steps does not wait at each step. A key without waiting
   * uses then begins before those that wait.
   */
  yieldMs?: number;
  /** The most uses of one key that wait. */
  mostWaiting: number;
  /** The most milliseconds that a use waits. */
  waitMs: number;
  /**
   * A use that began `afterMs` milliseconds ago gives its units back if others wait and the resource is idle: it
   * probably waits for another system. If the resource is busy, the use may just be slow, and gives them back only after
   * `atLatestMs`.
   */
  lend?: { afterMs: number; atLatestMs: number; isIdle: () => boolean };
}

interface KeyState {
  key: string | undefined;
  /** Units in use. */
  units: number;
  /** Uses with units. */
  count: number;
  /** The oldest is first. */
  waiting: Set<ShareUse>;
  /** When the key began last. */
  begunAt: number;
  /** The units that it has begun since the start of its current period of `yieldMs`. */
  period: { at: number; units: number };
}

/** Waiting → active → ended; or waiting → ended, if it was refused or its client has left. */
export class ShareUse {
  state: 'waiting' | 'active' | 'lent' | 'ended' = 'waiting';
  at = 0;
  /** Called once when a waiting use begins. It runs in the context of the use that has ended, so restore your own. */
  onBegin?: () => void;
  /** Called once if a waiting use has waited too long. */
  onRefused?: (refusal: Error) => void;

  constructor(
    private readonly share: FairShare,
    readonly owner: KeyState,
    readonly units: number,
  ) {}

  get isWaiting(): boolean {
    return this.state === 'waiting';
  }

  /** Resolves when a waiting use begins. @throws the refusal, if it has waited too long */
  begun(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.onBegin = resolve;
      this.onRefused = reject;
    });
  }

  /** Ends the use, or takes it out of the queue. May be called again. */
  end(): void {
    this.share.end(this);
  }
}

/**
 * Divides a scarce resource fairly between keys, such as tenants. A use begins at once if its key has units left and
 * the total has. Otherwise it waits, and the key that uses least begins next; uses of one key keep their order.
 * A key that is alone gets everything. While another key is active it gets a part, so that the first use of a key that
 * comes back does not wait for everything that a busy key has begun.
 */
export class FairShare {
  /** Only keys that use something or wait. */
  private readonly keys = new Map<string | undefined, KeyState>();
  private readonly waitingKeys = new Set<KeyState>();
  private readonly active = new Set<ShareUse>();
  private used = 0;
  private latest: { key: string | undefined; at: number } = { key: undefined, at: -Infinity };
  /** The latest activity of another key than that of `latest`. */
  private previous = this.latest;
  private timer: NodeJS.Timeout | undefined;
  private yielding: NodeJS.Timeout | undefined;

  /** @param refusal makes the error for a use that cannot wait, or has waited too long */
  constructor(
    private readonly bounds: ShareBounds,
    private readonly refusal: () => Error,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Units in use. */
  get inUse(): number {
    return this.used;
  }

  /** The number of uses that wait. */
  get waitingCount(): number {
    return [...this.waitingKeys].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /**
   * Begins a use, or queues it: check `isWaiting`.
   * @param key undefined: work of the process itself, which only the total limits
   * @throws the refusal if too many uses of the key wait
   */
  enter(key: string | undefined, units = 1): ShareUse {
    const now = this.now();
    this.noteActive(key, now);
    const owner = this.stateOf(key);
    const use = new ShareUse(this, owner, units);
    const mayPass = this.waitingKeys.size === 0 || (this.bounds.yieldMs !== undefined && owner.waiting.size === 0);
    if (mayPass && this.isWithinPart(owner, units, now) && this.isFree(owner, units)) {
      this.begin(use, now);
      return use;
    }
    if (owner.waiting.size >= this.bounds.mostWaiting) throw this.refusal();
    use.at = now;
    owner.waiting.add(use);
    this.waitingKeys.add(owner);
    this.timer ??= setInterval(() => this.check(), CHECK_EVERY_MS).unref();
    // It may be the turn of this use: the others may wait for units of their own keys.
    this.beginWaiting();
    return use;
  }

  /** Runs `work` as a use of the key. */
  async run<T>(key: string | undefined, units: number, work: () => Promise<T>): Promise<T> {
    const use = this.enter(key, units);
    if (use.isWaiting) await use.begun();
    try {
      return await work();
    } finally {
      use.end();
    }
  }

  /** Called by `ShareUse.end`. */
  end(use: ShareUse): void {
    const { state } = use;
    use.state = 'ended';
    if (state === 'waiting') this.leaveQueue(use);
    if (state !== 'active') return;
    this.giveBack(use);
    this.beginWaiting();
  }

  private begin(use: ShareUse, now: number): void {
    const { owner, units } = use;
    use.state = 'active';
    use.at = now;
    this.used += units;
    owner.units += units;
    owner.count += 1;
    owner.begunAt = now;
    if (owner.period.at <= now - (this.bounds.yieldMs ?? 0)) owner.period = { at: now, units: 0 };
    owner.period.units += units;
    if (this.bounds.lend) this.active.add(use);
  }

  private giveBack(use: ShareUse): void {
    this.used -= use.units;
    use.owner.units -= use.units;
    use.owner.count -= 1;
    this.active.delete(use);
    this.forgetIfIdle(use.owner);
  }

  private leaveQueue(use: ShareUse): void {
    const { owner } = use;
    owner.waiting.delete(use);
    if (owner.waiting.size > 0) return;
    this.waitingKeys.delete(owner);
    this.forgetIfIdle(owner);
    if (this.waitingKeys.size > 0) return;
    clearInterval(this.timer);
    clearTimeout(this.yielding);
    this.timer = undefined;
    this.yielding = undefined;
  }

  private forgetIfIdle({ key, count, waiting }: KeyState): void {
    if (count === 0 && waiting.size === 0) this.keys.delete(key);
  }

  private beginWaiting(): void {
    if (this.waitingKeys.size === 0) return;
    const now = this.now();
    for (let next = this.next(now); next; next = this.next(now)) {
      this.begin(next, now);
      this.leaveQueue(next);
      next.onBegin?.();
    }
    const { yieldMs } = this.bounds;
    if (yieldMs === undefined || this.waitingKeys.size === 0) return;
    this.yielding ??= setTimeout(() => {
      this.yielding = undefined;
      this.beginWaiting();
    }, yieldMs).unref();
  }

  /** Whether a key without waiting uses is active, and this key has begun its part in the current period. */
  private mustYield({ period }: KeyState, units: number, now: number): boolean {
    const { yieldMs, contended } = this.bounds;
    if (yieldMs === undefined || period.at <= now - yieldMs || period.units + units <= contended) return false;
    for (const other of this.keys.values()) if (other.count > 0 && other.waiting.size === 0) return true;
    return false;
  }

  /**
   * The first use of the key that uses least, or of the one that began longest ago. If too few units are free for it,
   * no other key may take them.
   */
  private next(now: number): ShareUse | undefined {
    let best: ShareUse | undefined;
    for (const state of this.waitingKeys) {
      if (best && !isBefore(state, best.owner)) continue;
      const first = state.waiting.values().next().value as ShareUse;
      if (this.isWithinPart(state, first.units, now) && !this.mustYield(state, first.units, now)) best = first;
    }
    return best && this.isFree(best.owner, best.units) ? best : undefined;
  }

  /** A use that needs more than the part of its key begins if the key uses nothing else. */
  private isWithinPart({ key, count, units: own }: KeyState, units: number, now: number): boolean {
    return key === undefined || count === 0 || own + units <= this.limitOf(key, now);
  }

  private isFree({ count }: KeyState, units: number): boolean {
    const { total, isFirstFree } = this.bounds;
    return this.used === 0 || this.used + units <= total || (isFirstFree === true && count === 0);
  }

  private limitOf(key: string, now: number): number {
    const rival = this.latest.key === key ? this.previous : this.latest;
    return rival.at > now - ACTIVE_MS ? this.bounds.contended : this.bounds.alone;
  }

  private noteActive(key: string | undefined, at: number): void {
    if (key === undefined) return;
    if (this.latest.key === key) {
      this.latest.at = at;
      return;
    }
    this.previous = this.latest;
    this.latest = { key, at };
  }

  private stateOf(key: string | undefined): KeyState {
    const known = this.keys.get(key);
    if (known) return known;
    const state = {
      key,
      units: 0,
      count: 0,
      waiting: new Set<ShareUse>(),
      begunAt: -Infinity,
      period: { at: -Infinity, units: 0 },
    };
    this.keys.set(key, state);
    return state;
  }

  private check(): void {
    const now = this.now();
    const { lend, waitMs } = this.bounds;
    const lentAfterMs = lend?.isIdle() ? lend.afterMs : (lend?.atLatestMs ?? Infinity);
    for (const use of this.active) {
      if (use.at > now - lentAfterMs) break;
      use.state = 'lent';
      this.giveBack(use);
    }
    for (const { waiting } of this.waitingKeys)
      for (const use of waiting) {
        if (use.at > now - waitMs) break;
        this.leaveQueue(use);
        use.state = 'ended';
        use.onRefused?.(this.refusal());
      }
    this.beginWaiting();
  }
}

function isBefore(one: KeyState, other: KeyState): boolean {
  return one.units === other.units ? one.begunAt < other.begunAt : one.units < other.units;
}
