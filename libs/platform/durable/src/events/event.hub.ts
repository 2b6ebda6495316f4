import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Database, type RowPage } from '@slipway/platform-database';
import { WakeableTask } from '../scheduling/index.js';
import { EVENTS_CHANNEL } from '@slipway/contracts';
import { readEvents, type StoredEvent } from './event.store.js';

const PAGE = 200;
/** How often a tail reads without a notification, because one may be lost without any other sign. */
const LOOK_EVERY_MS = 30_000;

/** A watcher of a stream. `deliver` must not wait; if a watcher cannot keep up, its owner must disconnect it. */
export interface EventWatcher {
  stream: string;
  /** The last sequence that it has seen, not beyond the stream's last. The hub advances it. */
  cursor: number;
  deliver(event: StoredEvent): void;
}

/** The live watchers of one stream, and the last sequence that all of them have seen. */
interface StreamTail {
  last: number;
  live: Set<EventWatcher>;
  reading: WakeableTask;
}

/**
 * Delivers events to all watchers of this process over one LISTEN connection. A watcher first gets pages from its own
 * cursor, then joins its stream's tail. A tail reads new events once and delivers them to all watchers, so a thousand
 * watchers cost one query. A notification only causes a read: the table decides what is delivered, and in which order.
 */
@Injectable()
export class EventHub implements BeforeApplicationShutdown {
  private readonly logger = new Logger('events');
  private readonly tails = new Map<string, StreamTail>();
  private readonly closers = new Set<() => void>();
  private listening?: Promise<unknown>;
  private looking?: NodeJS.Timeout;

  constructor(private readonly database: Database) {}

  /**
   * Follows a stream until the returned function is called, or until `isOpen` returns false. `onClose` is called when
   * the process shuts down.
   */
  async watch(watcher: EventWatcher, onClose: () => void, isOpen: () => boolean = () => true): Promise<() => void> {
    this.closers.add(onClose);
    const stop = () => {
      this.closers.delete(onClose);
      this.leave(watcher);
    };
    try {
      this.listening ??= this.database.listen(
        EVENTS_CHANNEL,
        (stream) => this.wake(stream),
        () => this.wakeAll(),
      );
      this.looking ??= setInterval(() => this.wakeAll(), LOOK_EVERY_MS).unref();
      await this.listening;
      await this.join(watcher, isOpen);
    } catch (error) {
      stop();
      throw error;
    }
    return stop;
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.looking);
    for (const close of this.closers) close();
  }

  private async join(watcher: EventWatcher, isOpen: () => boolean): Promise<void> {
    while (isOpen()) {
      const before = this.tails.get(watcher.stream);
      const seenByTail = before?.last;
      const { rows, hasMore } = await this.pageAfter(watcher.stream, watcher.cursor);
      for (const row of rows) hand(watcher, row);
      if (hasMore) continue;
      const tail = this.tails.get(watcher.stream);
      // The tail has delivered an event while this page was read, and the event may be missing from the page.
      if (tail && (tail !== before || tail.last !== seenByTail)) continue;
      // The pages contain what the tail delivered earlier, unless it is no longer kept. `hand` drops what was already
      // seen.
      if (tail) tail.live.add(watcher);
      else this.tails.set(watcher.stream, this.newTail(watcher));
      // An event may have been committed between the page and this line, and its notification found no tail.
      this.wake(watcher.stream);
      return;
    }
  }

  private leave(watcher: EventWatcher): void {
    const tail = this.tails.get(watcher.stream);
    if (!tail) return;
    tail.live.delete(watcher);
    if (tail.live.size === 0) this.tails.delete(watcher.stream);
  }

  private newTail(watcher: EventWatcher): StreamTail {
    const { stream, cursor } = watcher;
    const reading = new WakeableTask(() => this.read(stream, tail), {
      // Postgres is down: the reconnect of the LISTEN connection wakes every stream.
      onError: (error) => {
        this.logger.warn(`could not read stream ${stream}: ${error instanceof Error ? error.message : String(error)}`);
        setTimeout(() => this.wake(stream), 1_000).unref();
      },
    });
    const tail: StreamTail = { last: cursor, live: new Set([watcher]), reading };
    return tail;
  }

  private wake(stream: string): void {
    void this.tails.get(stream)?.reading.wake();
  }

  private wakeAll(): void {
    for (const stream of this.tails.keys()) this.wake(stream);
  }

  private async read(stream: string, tail: StreamTail): Promise<void> {
    const { rows, hasMore } = await this.pageAfter(stream, tail.last);
    for (const row of rows) for (const watcher of tail.live) hand(watcher, row);
    if (rows.length > 0) tail.last = Number(rows[rows.length - 1]?.sequence);
    if (hasMore) void tail.reading.wake();
  }

  private pageAfter(stream: string, after: number): Promise<RowPage<StoredEvent>> {
    return readEvents(this.database, 'system', { stream }, { after, order: 'asc', limit: PAGE });
  }
}

function hand(watcher: EventWatcher, event: StoredEvent): void {
  const sequence = Number(event.sequence);
  if (sequence <= watcher.cursor) return;
  watcher.cursor = sequence;
  watcher.deliver(event);
}
