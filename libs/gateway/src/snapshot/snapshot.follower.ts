import { readEntries, readVersions, type EntryKeys, type QueryClient } from '@slipway/dataplane';
import type { Log } from '../log.js';
import type { TokenBook } from '../tokens/token-book.js';
import type { Snapshot } from './snapshot.js';

/** NOTIFY reports tokens; this comparison only covers lost notifications. */
const TOKENS_EVERY_ROUNDS = 5;

type PendingKeys = { [K in keyof EntryKeys]: Set<string> };
/** Each is read by itself: the end of a token must not wait until thousands of routes have been read. */
type FollowedState = 'published' | 'tokens';

/**
 * Keeps the snapshot equal to what is published. A notification names one row, which is read at once. In addition, the
 * versions of everything are compared every second and after each reconnect, so that no lost notification lasts.
 *
 * Reads of what is published run one after the other, and so do reads of tokens. Concurrent reads could be answered out
 * of order, and an older row would replace a newer one.
 */
export class SnapshotFollower {
  private pending: PendingKeys = nothing();
  private readonly pendingTokens = new Set<string>();
  private isComparisonDue = true;
  private areTokensDue = true;
  private rounds = 0;
  private timer: NodeJS.Timeout | null = null;
  private readonly running = new Map<FollowedState, Promise<void>>();
  private readonly failing = new Set<FollowedState>();
  private isClosed = false;
  private lastReadAt: number | null = null;

  constructor(
    private readonly db: QueryClient,
    private readonly snapshot: Snapshot,
    private readonly tokens: TokenBook,
    private readonly onChange: () => void,
    private readonly refreshMs: number,
    private readonly log: Log,
  ) {}

  /** Whether Postgres answered the last read. */
  get isFollowing(): boolean {
    return this.lastReadAt !== null && this.failing.size === 0;
  }

  /** Milliseconds since Postgres last confirmed the snapshot, or null if it never did. */
  get ageMs(): number | null {
    return this.lastReadAt === null ? null : performance.now() - this.lastReadAt;
  }

  /** Reads everything once. Resolves to true if that succeeded. */
  async start(): Promise<boolean> {
    this.wake();
    await this.settled();
    this.timer = setInterval(() => this.onInterval(), this.refreshMs);
    return this.isFollowing;
  }

  compareEverything(): void {
    this.isComparisonDue = true;
    this.areTokensDue = true;
    this.tokens.distrust(null);
    this.wake();
  }

  onPublished(payload: string): void {
    const colon = payload.indexOf(':');
    const id = payload.slice(colon + 1);
    const kind = payload.slice(0, colon);
    if (kind === 'route') this.pending.routes.add(id);
    else if (kind === 'backend') this.pending.backends.add(id);
    else if (kind === 'slug') this.pending.slugs.add(id);
    else if (kind === 'passport') this.pending.passports.add(id);
    else this.isComparisonDue = true;
    this.wake();
  }

  onTokenChanged(tokenId: string): void {
    // Runs at once, even during a read: a lookup that is answered meanwhile may have been read before the change.
    this.tokens.distrust([tokenId]);
    this.pendingTokens.add(tokenId);
    this.wake();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer) clearInterval(this.timer);
    await this.settled();
  }

  private onInterval(): void {
    this.rounds += 1;
    this.isComparisonDue = true;
    if (this.rounds % TOKENS_EVERY_ROUNDS === 0) this.areTokensDue = true;
    this.wake();
  }

  private wake(): void {
    if (this.isPublishedDue()) this.follow('published', () => this.readPublished());
    if (this.isTokenDue()) this.follow('tokens', () => this.readChangedTokens());
  }

  private follow(followed: FollowedState, read: () => Promise<void>): void {
    if (this.running.has(followed) || this.isClosed) return;
    const work = this.attempt(followed, read).finally(() => this.running.delete(followed));
    this.running.set(followed, work);
  }

  private async settled(): Promise<void> {
    await Promise.all(this.running.values());
  }

  private async attempt(followed: FollowedState, read: () => Promise<void>): Promise<void> {
    try {
      await read();
      if (this.failing.delete(followed) && this.failing.size === 0) this.log.info({}, 'following Postgres again');
    } catch (error) {
      // The pending keys are still covered: the next round compares everything.
      this.isComparisonDue = true;
      this.areTokensDue = true;
      if (this.failing.size === 0)
        this.log.warn({ error: String(error) }, 'published state cannot be read; serving the last known snapshot');
      this.failing.add(followed);
    }
  }

  private async readPublished(): Promise<void> {
    while (!this.isClosed && this.isPublishedDue())
      if (sizeOf(this.pending) > 0) await this.readPending();
      else await this.compare();
  }

  private async readChangedTokens(): Promise<void> {
    while (!this.isClosed && this.isTokenDue()) await this.readTokens();
  }

  private isPublishedDue(): boolean {
    return this.isComparisonDue || sizeOf(this.pending) > 0;
  }

  private isTokenDue(): boolean {
    return this.areTokensDue || this.pendingTokens.size > 0;
  }

  private async readTokens(): Promise<void> {
    const isEveryToken = this.areTokensDue;
    const ids = isEveryToken ? null : [...this.pendingTokens];
    this.areTokensDue = false;
    this.pendingTokens.clear();
    if (await this.tokens.refresh(ids)) this.onChange();
  }

  private async readPending(): Promise<void> {
    const { routes, backends, slugs, passports } = this.pending;
    this.pending = nothing();
    await this.read({ routes: [...routes], backends: [...backends], slugs: [...slugs], passports: [...passports] });
  }

  private async compare(): Promise<void> {
    this.isComparisonDue = false;
    const keys = this.snapshot.differences(await readVersions(this.db, this.snapshot.digests));
    if (keys.routes.length + keys.backends.length + keys.slugs.length + keys.passports.length > 0)
      await this.read(keys);
    this.lastReadAt = performance.now();
  }

  private async read(keys: EntryKeys): Promise<void> {
    const entries = await readEntries(this.db, keys);
    if (this.snapshot.apply(keys, entries)) this.onChange();
  }
}

function nothing(): PendingKeys {
  return { routes: new Set(), backends: new Set(), slugs: new Set(), passports: new Set() };
}

function sizeOf(pending: PendingKeys): number {
  return pending.routes.size + pending.backends.size + pending.slugs.size + pending.passports.size;
}
