import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError, KubeConfigError, UnreachableError } from './errors.js';
import type { KubeKind } from './kinds.js';
import { CacheFullError, isOlder, ObjectCache, type ObjectListener } from './object-cache.js';
import type { KubeObject } from './objects.js';
import type { KubeApi } from './requests.js';
import { RetryPace } from './retry-pace.js';
import { BrokenWatchError, eventsOf, type WatchEvent } from './watch-lines.js';

export interface ReflectorOptions<T extends KubeObject> {
  kind: KubeKind;
  namespace: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Reduces an object to what the reflector keeps: at least name, uid and version. Keeps everything by default. */
  keep?(object: T): T;
  /**
   * Receives each change of `get` and `values`, in order. An error that it throws is reported as trouble, and stops
   * nothing.
   */
  onChange?: ObjectListener<T>;
  /** Receives each failure, and null once the watch works again. */
  onTrouble?(error: unknown): void;
  clock?: Partial<ReflectorClock>;
}

/** Times in milliseconds. */
export interface ReflectorClock {
  /** `Date.now` */
  now(): number;
  /** 0..1 */
  random(): number;
  /** After this time without a byte the connection counts as dead. */
  silenceMs: number;
  /** A watch that ends earlier counts as a failure. */
  shortestWatchMs: number;
  /** After this time the server should end a watch; varied by up to a tenth. */
  watchSeconds: number;
  /** Divides the times between tries. */
  shorterRetries: number;
}

const CLOCK: ReflectorClock = {
  now: Date.now,
  random: Math.random,
  silenceMs: 90_000,
  shortestWatchMs: 1_000,
  watchSeconds: 600,
  shorterRetries: 1,
};

/** After this many failures in a row of a server that answers, our version is no longer trusted. */
const FAILURES_BEFORE_LIST = 3;

/**
 * All objects of a kind in one namespace, as the API server reports them: one consistent list, then a watch that
 * continues from it. It never ends by itself. It always shows the server's last state or, while the server is away, the
 * state before that.
 *
 * | event | reaction |
 * |---|---|
 * | the watch ends at its time | the next one starts at once |
 * | it is cut, or silent for 90 s | a pause, a list of one object to detect a restored server, then the next one |
 * | 410, as a status or in the watch; a restored server | a new list; an object that is missing in it was deleted |
 * | 429, 5xx, garbage | the next one starts after the pause; the third time in a row a new list |
 * | no server answers, 401, 403 | another try after the pause, without end |
 */
export class Reflector<T extends KubeObject> {
  private readonly cache: ObjectCache<T>;
  private readonly clock: ReflectorClock;
  private readonly pace: RetryPace;
  private readonly closing = new AbortController();
  private running?: Promise<void>;
  private isListOwed = true;
  /** The server may have been restored to an older state since its last answer. */
  private isVersionInDoubt = false;
  private isTroubled = false;
  private heardAt = 0;

  constructor(
    private readonly api: Pick<KubeApi, 'list' | 'watch' | 'server'>,
    private readonly options: ReflectorOptions<T>,
  ) {
    this.clock = { ...CLOCK, ...options.clock };
    this.pace = new RetryPace(this.clock.random, this.clock.shorterRetries);
    this.cache = new ObjectCache<T>((before, after) => this.tell(before, after));
  }

  /** Begins to list and watch, in the background. */
  start(): void {
    this.running ??= this.run();
  }

  /** Ends the watch, and resolves when nothing of it is left. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  /** The list is complete, and no new one is necessary. The server may still be away, see `lastHeardAt`. */
  get isSynced(): boolean {
    return !this.isListOwed;
  }

  /** `Date.now()` of the last byte or answer; 0 for none. */
  get lastHeardAt(): number {
    return this.heardAt;
  }

  get(name: string): T | undefined {
    return this.cache.get(name);
  }

  byUid(uid: string): T | undefined {
    return this.cache.byUid(uid);
  }

  values(): Iterable<T> {
    return this.cache.values();
  }

  /** Shows the server's answer to a write of ours at once, until the watch shows it or something newer. */
  remember(object: T): void {
    this.cache.remember(this.kept(object));
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      try {
        if (this.isListOwed) await this.list();
        else if (this.isVersionInDoubt) await this.confirmVersion();
        if (!this.isListOwed && !signal.aborted) await this.watch();
      } catch (error) {
        if (!signal.aborted) await this.recover(error);
      }
    }
  }

  private async list(): Promise<void> {
    const { kind, namespace, labelSelector, fieldSelector } = this.options;
    const written = this.cache.written();
    const patience = this.closing.signal;
    const listed = { labelSelector, fieldSelector, patience };
    const { items, resourceVersion } = await this.api.list<T>(kind, namespace, listed);
    if (this.closing.signal.aborted) return;
    this.heard();
    this.cache.replace(
      items.map((item) => this.kept(item)),
      resourceVersion,
      written,
    );
    this.isListOwed = false;
    this.isVersionInDoubt = false;
  }

  /**
   * Detects a server that was restored or has another etcd; no server reports this. A watch from a version that a
   * restored server has not reached receives nothing. On another etcd it misses the objects that existed before. One
   * listed object is the proof, if we know it.
   */
  private async confirmVersion(): Promise<void> {
    const { kind, namespace, labelSelector, fieldSelector } = this.options;
    const asked = { labelSelector, fieldSelector, limit: 1, patience: this.closing.signal };
    const { items, resourceVersion } = await this.api.list<T>(kind, namespace, asked);
    this.heard();
    const [first] = items;
    const isKnown = first ? this.cache.wasTold(first.metadata.uid) : this.cache.size === 0;
    this.isListOwed = !isKnown || isOlder(resourceVersion, this.cache.version);
    this.isVersionInDoubt = false;
  }

  private async watch(): Promise<void> {
    const { kind, namespace, labelSelector, fieldSelector } = this.options;
    const { watchSeconds, silenceMs, shortestWatchMs, now, random } = this.clock;
    const timeoutSeconds = Math.max(1, Math.round(watchSeconds * (0.9 + 0.2 * random())));
    const resourceVersion = this.cache.version ?? '';
    const stop = new AbortController();
    const end = (): void => stop.abort();
    const silence = setTimeout(end, silenceMs);
    this.closing.signal.addEventListener('abort', end);
    let startedAt = Infinity;
    try {
      const watched = { labelSelector, fieldSelector, resourceVersion, timeoutSeconds };
      const pieces = await this.api.watch(kind, namespace, watched, stop.signal);
      startedAt = now();
      this.heard();
      this.healed();
      const onBytes = (): void => {
        this.heard();
        silence.refresh();
      };
      for await (const event of eventsOf(pieces, onBytes)) this.take(event);
    } catch (error) {
      if (!(error instanceof ApiError)) this.isVersionInDoubt = true;
      // The watch worked for a while, so this failure is independent of the ones before.
      if (now() - startedAt >= shortestWatchMs) this.pace.succeeded();
      throw OURS.some((known) => error instanceof known) ? error : new WatchCutError(this.api.server, error);
    } finally {
      clearTimeout(silence);
      this.closing.signal.removeEventListener('abort', end);
      stop.abort();
    }
    const livedMs = now() - startedAt;
    // Servers end watches early when they shut down.
    if (livedMs < timeoutSeconds * 900) this.isVersionInDoubt = true;
    if (livedMs < shortestWatchMs) throw new BrokenWatchError(`ended after ${livedMs} ms`);
    this.pace.succeeded();
  }

  private take(event: WatchEvent): void {
    if (event.type === 'ERROR') {
      const { kind, namespace } = this.options;
      const call = { verb: 'watch', resource: kind.plural, group: kind.group, namespace };
      throw new ApiError(call, Number(event.object.code) || 500, event.object);
    }
    if (event.type === 'BOOKMARK') this.cache.advance(event.object.metadata.resourceVersion as string);
    else this.cache.take(event.type, this.kept(event.object as T));
    this.pace.succeeded();
  }

  /** Waits, and decides how the next try begins. */
  private async recover(error: unknown): Promise<void> {
    const isExpired = error instanceof ApiError && (error.isExpired || isAheadOfServer(error));
    const waitMs = this.pace.failed(error);
    const isAnswered = !(error instanceof UnreachableError) && !(error instanceof ApiError && error.status < 500);
    if (isExpired || (isAnswered && this.pace.inARow >= FAILURES_BEFORE_LIST)) this.isListOwed = true;
    // The first 410 is not trouble. Its list cannot wait, because the changes since then are unknown.
    if (isExpired && this.pace.inARow === 1) return;
    // Connections are cut now and then. If the server is away, the next try will show it.
    if (!(error instanceof WatchCutError && this.pace.inARow === 1)) this.troubled(error);
    await sleep(waitMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
  }

  private kept(object: T): T {
    return this.options.keep?.(object) ?? object;
  }

  private tell(before: T | undefined, after: T | undefined): void {
    try {
      this.options.onChange?.(before, after);
    } catch (error) {
      this.troubled(error);
    }
  }

  private heard(): void {
    this.heardAt = this.clock.now();
  }

  private troubled(error: unknown): void {
    this.isTroubled = true;
    this.say(error);
  }

  private healed(): void {
    if (this.isTroubled) this.say(null);
    this.isTroubled = false;
  }

  private say(error: unknown): void {
    try {
      this.options.onTrouble?.(error);
    } catch {
      // The error has no other receiver, and the watch must continue.
    }
  }
}

/** The end of a watch that worked. */
class WatchCutError extends UnreachableError {
  constructor(server: string, cause: unknown) {
    const code = (cause as { code?: unknown } | null)?.code;
    super(server, typeof code === 'string' ? code : 'CUT', 'the watch was interrupted', cause);
  }
}

/** Errors whose messages already name the problem. */
const OURS = [ApiError, UnreachableError, KubeConfigError, BrokenWatchError, CacheFullError];

/** Whether we request a version that this server has not reached, because it was restored from an older one. */
const isAheadOfServer = ({ details }: ApiError): boolean =>
  details.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge') === true;
