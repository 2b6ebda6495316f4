import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Database, prepared } from '@slipway/platform-database';
import { OPERATION_QUEUE, type OperationQueue } from '../../queue/index.js';
import { WakeableTask } from '../../scheduling/index.js';
import { OUTBOX_GAP_MS } from '../accept/operation.store.js';

const POLL_MS = 1_000;
const BATCH = 200;
/**
 * One wake-up is sent for this many due operations, because a wake-up only says that there is work. The worker that
 * receives it claims up to all of its free slots. A row with a later time gets its own wake-up.
 */
const DUE_PER_RING = 16;

interface OutboxRow {
  operation_id: string;
  dispatch: number;
  delay_ms: number;
}

/*
 * The transaction that deletes the rows stays open while they are added to the queue. If a relay dies in between,
 * another one adds them again, under the same job id. SKIP LOCKED lets several relays share the work.
 */
const TAKE = prepared(
  'outbox-take',
  `delete from outbox where id = any(array(select id from outbox order by id limit ${BATCH} for update skip locked))
   returning operation_id, dispatch, greatest(0, extract(epoch from not_before - clock_timestamp()) * 1000)::float8 as delay_ms`,
);

/**
 * Carries wake-ups from the outbox into the queue. NOTIFY wakes it, and polling guarantees delivery. It is the only
 * caller of `queue.add`.
 */
@Injectable()
export class OutboxRelay {
  private readonly logger = new Logger('outbox');
  private readonly relaying = new WakeableTask(() => this.relay(), {
    // Rows that are added within the gap share a transaction and a wake-up.
    gapMs: OUTBOX_GAP_MS,
    // The rows still exist; the next poll tries again.
    onError: (error) =>
      this.logger.warn(
        `could not relay wake-ups to the queue: ${error instanceof Error ? error.message : String(error)}`,
      ),
  });
  private timer?: NodeJS.Timeout;
  private unlisten?: () => Promise<void>;

  constructor(
    private readonly database: Database,
    @Inject(OPERATION_QUEUE) private readonly queue: OperationQueue,
  ) {}

  async start(): Promise<void> {
    const wake = () => void this.relaying.wake();
    this.unlisten = await this.database.listen(OUTBOX_CHANNEL, wake, wake);
    this.timer = setInterval(wake, POLL_MS);
    wake();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.unlisten?.();
    await this.relaying.stop();
  }

  private async relay(): Promise<void> {
    while ((await this.relayBatch()) === BATCH);
  }

  private relayBatch(): Promise<number> {
    return this.database.tx('system', async (tx) => {
      const rows = await tx.query<OutboxRow>(TAKE);
      await Promise.all(
        rung(rows).map((row) =>
          this.queue.add({ operationId: row.operation_id, dispatch: row.dispatch, delayMs: Math.ceil(row.delay_ms) }),
        ),
      );
      return rows.length;
    });
  }
}

/** The rows that a wake-up is sent for. */
function rung(rows: readonly OutboxRow[]): OutboxRow[] {
  const due = rows.filter((row) => row.delay_ms === 0);
  const later = rows.filter((row) => row.delay_ms > 0);
  return [...due.filter((_, index) => index % DUE_PER_RING === 0), ...later];
}
