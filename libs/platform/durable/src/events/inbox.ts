import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { INBOX_CHANNEL } from '@slipway/contracts';
import { Database, prepared, type Tx } from '@slipway/platform-database';
import { WakeableTask } from '../scheduling/index.js';

/** An event as a subscriber receives it. */
export interface ReceivedEvent {
  tenantId: string;
  stream: string;
  sequence: number;
  type: string;
  subject: string;
  operationId: string | null;
  revisionId: string | null;
  data: Record<string, unknown>;
}

/**
 * A part of the product that reacts to the events of another part. It receives each event once, in a system transaction
 * that also removes the event from its inbox. Events may arrive late and in another order than they were appended. So
 * it reads the current state and does not rely on the content of the event.
 */
export interface EventSubscriber {
  receive(tx: Tx, event: ReceivedEvent): Promise<void>;
}

/**
 * Marks a provider as a subscriber: `@Subscription({ name: 'autopilot', types: ['policy.updated'] })`. A migration
 * contains the same name and types, `select slipway_subscribe('autopilot', '{policy.updated}')`; a worker checks that
 * at boot.
 */
export const Subscription = DiscoveryService.createDecorator<{ name: string; types: readonly string[] }>();

const POLL_MS = 1_000;
const RETRY_MIN_SECONDS = 1;
const RETRY_MAX_SECONDS = 300;

const SUBSCRIBED = prepared('inbox-subscribed', `select subscription, type from event_subscriptions`);

const TAKE = prepared(
  'inbox-take',
  `with due as (
     select id from event_inbox where subscription = $1 and due_at <= now() order by due_at, id limit 1 for update skip locked
   ), taken as (
     delete from event_inbox i using due where i.id = due.id returning i.id, i.stream, i.sequence
   )
   select taken.id, e.tenant_id "tenantId", taken.stream, taken.sequence::float8 as sequence, e.type, e.subject, e.operation_id "operationId",
     e.revision_id "revisionId", e.data
   from taken left join events e using (stream, sequence)`,
);

const PUT_OFF = prepared(
  'inbox-put-off',
  `update event_inbox set attempts = attempts + 1, trouble = $2,
     due_at = now() + make_interval(secs => least(${RETRY_MAX_SECONDS}, ${RETRY_MIN_SECONDS} * 2 ^ least(attempts, 10)))
   where id = $1`,
);

type ClaimedEvent = ReceivedEvent & { id: string };

/**
 * Delivers events to subscribers, in a worker. NOTIFY wakes it, and polling guarantees delivery. Several workers share
 * the work.
 */
@Injectable()
export class Inbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('inbox');
  private readonly subscribers = new Map<string, EventSubscriber>();
  private timer?: NodeJS.Timeout;
  private unlisten?: () => Promise<void>;
  private readonly receiving = new WakeableTask(() => this.receiveAll(), {
    // Postgres is down: the rows still exist, and the next poll checks again.
    onError: (error) => this.logger.warn(`could not receive events: ${reasonOf(error)}`),
  });

  constructor(
    private readonly database: Database,
    private readonly discovery: DiscoveryService,
  ) {}

  /** @throws Error if a subscriber's types are not what the migrations have subscribed it to */
  async onApplicationBootstrap(): Promise<void> {
    await this.findSubscribers();
    if (this.subscribers.size === 0) return;
    const wake = () => void this.receiving.wake();
    this.unlisten = await this.database.listen(INBOX_CHANNEL, wake, wake);
    this.timer = setInterval(wake, POLL_MS);
    wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    const stopped = this.receiving.stop();
    clearInterval(this.timer);
    await this.unlisten?.();
    await stopped;
  }

  /** Receives everything that is due now. */
  drain(): Promise<void> {
    return this.receiving.wake();
  }

  private async receiveAll(): Promise<void> {
    for (const [name, subscriber] of this.subscribers)
      while (!this.receiving.isStopped && (await this.receiveOne(name, subscriber)));
  }

  private async findSubscribers(): Promise<void> {
    const rows = await this.database.read<{ subscription: string; type: string }>('system', SUBSCRIBED);
    for (const provider of this.discovery.getProviders({ metadataKey: Subscription.KEY })) {
      const { name, types } = this.discovery.getMetadataByDecorator(Subscription, provider)!;
      const stored = rows.filter(({ subscription }) => subscription === name).map(({ type }) => type);
      if ([...stored].sort().join() !== [...types].sort().join())
        throw new Error(
          `subscription ${name} has the event types ${types.join(', ')}, but the database lists ${stored.join(', ') || 'none'}: add a migration that calls slipway_subscribe`,
        );
      if (this.subscribers.has(name)) throw new Error(`subscription ${name} has two subscribers`);
      this.subscribers.set(name, provider.instance as EventSubscriber);
    }
  }

  /** Returns whether there was an event to receive. */
  private async receiveOne(name: string, subscriber: EventSubscriber): Promise<boolean> {
    let taken: ClaimedEvent | undefined;
    try {
      await this.database.tx('system', async (tx) => {
        taken = await tx.one<ClaimedEvent>(TAKE, [name]);
        // An event that is no longer kept has no content.
        if (taken?.type) await subscriber.receive(tx, taken);
      });
    } catch (error) {
      if (!taken) throw error;
      this.logger.warn(`subscription ${name} failed on ${taken.type} of ${taken.stream}: ${reasonOf(error)}`);
      await this.database.read('system', PUT_OFF, [taken.id, reasonOf(error).slice(0, 1_000)]);
    }
    return taken !== undefined;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
