import type { ResolveHost } from '@slipway/platform-egress';
import { LRUCache } from 'lru-cache';

type Addresses = ReturnType<ResolveHost>;

/** A look-up that takes longer makes its name a slow one. */
const QUICK_MS = 1_000;
const MOST_NAMES = 10_000;

/**
 * Looks up the names of receivers. The system's resolver uses threads, of which this process has two for all look-ups,
 * and a name server that never answers holds one for many seconds, whatever the time limit of a delivery is. So one
 * look-up at a time is for names that were slow or are new, and all others are for names that were quick. Deliveries to
 * one name share a look-up.
 */
export class ReceiverNames {
  private readonly underWay = new Map<string, Addresses>();
  /** Names whose last look-up was quick. */
  private readonly quick = new LRUCache<string, true>({ max: MOST_NAMES });
  /** Names whose last look-up was slow, or is. All others are new. */
  private readonly slow = new LRUCache<string, true>({ max: MOST_NAMES });
  private readonly waiting = { new: [] as (() => void)[], slow: [] as (() => void)[] };
  private isOccupied = false;

  constructor(private readonly lookUp: ResolveHost) {}

  readonly resolve = (name: string): Addresses => {
    const known = this.underWay.get(name);
    if (known) return known;
    const found = (this.quick.has(name) ? this.timed(name) : this.oneAtATime(name)).finally(() =>
      this.underWay.delete(name),
    );
    this.underWay.set(name, found);
    return found;
  };

  /** One at a time, new names first: they may be quick. */
  private async oneAtATime(name: string): Addresses {
    if (this.isOccupied)
      await new Promise<void>((resolve) => this.waiting[this.slow.has(name) ? 'slow' : 'new'].push(resolve));
    this.isOccupied = true;
    try {
      return await this.timed(name);
    } finally {
      const next = this.waiting.new.shift() ?? this.waiting.slow.shift();
      if (next) next();
      else this.isOccupied = false;
    }
  }

  private async timed(name: string): Addresses {
    const markSlow = () => {
      this.quick.delete(name);
      this.slow.set(name, true);
    };
    const timer = setTimeout(markSlow, QUICK_MS);
    timer.unref();
    const begun = performance.now();
    try {
      return await this.lookUp(name);
    } finally {
      clearTimeout(timer);
      if (performance.now() - begun < QUICK_MS) {
        this.slow.delete(name);
        this.quick.set(name, true);
      }
    }
  }
}
