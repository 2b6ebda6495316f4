import { Inject, Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { CONFIG, retentionOf, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { inBatches, Recurring, type Transact } from '../scheduling/index.js';
import {
  DELETE_EVENTS,
  FIND_EXPIRED_EVENTS,
  EVENTS_IN_INBOX,
  MOVE_STREAM_START,
  STREAMS,
  LOCK_EVENT_RETENTION,
} from './event-retention.query.js';

/**
 * The old events of one stream: from `first` to the one before `kept`. Sequences are text, as bigints are transferred.
 */
export interface ExpiredEvents {
  stream: string;
  tenantId: string;
  first: string;
  kept: string;
}

/**
 * A part of the product that still needs old events, because it has not processed them yet or because it shows them.
 */
export interface NeedsEvents {
  /**
   * Returns for each of these streams the first old event that is needed; a stream without a need is left out. That
   * event and all after it are kept, and an hour later this is called again. An event that was once not needed must
   * never be needed again.
   */
  firstNeeded(tx: Tx, old: readonly ExpiredEvents[]): Promise<{ stream: string; sequence: string }[]>;
}

/**
 * Marks a provider whose events are not deleted before it is done with them: `@KeepsEvents('webhooks')`. The name is
 * for the log.
 */
export const KeepsEvents = DiscoveryService.createDecorator<string>();

interface ExpiredStream extends ExpiredEvents {
  /** The time of the first event after the deletion, or a time that sets the next check. */
  oldestAt: string;
  heldUntil: string;
  hasMore: boolean;
}

/** Subscriptions receive an event once, however late. */
const INBOX: NeedsEvents = { firstNeeded: (tx, old) => tx.query(EVENTS_IN_INBOX, [JSON.stringify(old)]) };

/**
 * Deletes events that are older than `retention.events_days`, the oldest first, from the beginning of each stream. A
 * batch is a transaction: after a kill its deletions are permanent, and the rest is found again.
 */
@Injectable()
export class EventRetention implements OnModuleInit {
  private readonly logger = new Logger('events');
  private readonly needs = new Map<string, NeedsEvents>([['subscriptions', INBOX]]);

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly discovery: DiscoveryService,
  ) {}

  onModuleInit(): void {
    for (const provider of this.discovery.getProviders({ metadataKey: KeepsEvents.KEY }))
      this.needs.set(
        this.discovery.getMetadataByDecorator(KeepsEvents, provider)!,
        provider.instance as unknown as NeedsEvents,
      );
  }

  // Each moved stream is a write, however much is deleted of it, so rarer checks find more at once.
  @Recurring({ name: 'event-retention', everySeconds: 600 })
  async run(transact: Transact, stopping?: AbortSignal): Promise<void> {
    let deleted = 0;
    const held = new Map<string, number>();
    await inBatches(async (rows) => {
      const batch = await transact('system', (tx) => this.batch(tx, rows));
      deleted += batch.deleted;
      for (const name of batch.held) held.set(name, (held.get(name) ?? 0) + 1);
      return batch.hasMore;
    }, stopping);
    if (deleted > 0 || held.size > 0)
      this.logger.debug(
        `deleted ${deleted} old events${[...held].map(([name, count]) => `; ${name} still needs old events in ${count} streams`).join('')}`,
      );
  }

  private async batch(tx: Tx, rows: number): Promise<{ deleted: number; held: string[]; hasMore: boolean }> {
    const nothing = { deleted: 0, held: [], hasMore: false };
    const lock = await tx.one<{ isTaken: boolean }>(LOCK_EVENT_RETENTION);
    if (!lock?.isTaken) return nothing;
    const found = await tx.query<ExpiredStream>(FIND_EXPIRED_EVENTS, [
      retentionOf(this.config.operator).events_days,
      rows,
    ]);
    if (found.length === 0) return nothing;
    const held = await this.keepNeeded(tx, found);
    const ranges = JSON.stringify(found);
    const gone = await tx.one<{ count: number }>(DELETE_EVENTS, [ranges, rows]);
    const moved = await tx.query(MOVE_STREAM_START, [ranges]);
    const hasMore = moved.length > 0 && (found.length === STREAMS || found.some((one) => one.hasMore));
    return { deleted: gone?.count ?? 0, held, hasMore };
  }

  /** @returns the names of the parts that needed events, once for each stream */
  private async keepNeeded(tx: Tx, found: ExpiredStream[]): Promise<string[]> {
    const held: string[] = [];
    const byStream = new Map(found.map((one) => [one.stream, one]));
    for (const [name, needs] of this.needs) {
      const old = found.filter(({ first, kept }) => BigInt(first) < BigInt(kept));
      if (old.length === 0) break;
      for (const { stream, sequence } of await needs.firstNeeded(tx, old)) {
        const one = byStream.get(stream)!;
        if (BigInt(sequence) >= BigInt(one.kept)) continue;
        Object.assign(one, { kept: sequence, oldestAt: one.heldUntil, hasMore: false });
        held.push(name);
      }
    }
    return held;
  }
}
