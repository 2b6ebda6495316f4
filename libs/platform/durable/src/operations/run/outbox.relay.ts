import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { Database, prepared } from '@slipway/platform-database';
import { OPERATION_QUEUE, type OperationQueue } from '../../queue/index.js';
import { WakeableTask } from '../../scheduling/index.js';
import { OUTBOX_GAP_MS } from '../accept/operation.store.js';

const POLL_MS = 1_000;
const BATCH = 200;
/**
 * One wake-up is sent for so many operations that are due: it says that there is work, and whoever hears it claims up to all of its free
 * slots. A later time rings for itself.
 */
const DUE_PER_RING = 16;

interface OutboxRow {
  operation_id: string;
  dispatch: number;
  delay_ms: number;
}

/*
 * Rows are deleted by the transaction that holds them while they are added to the queue: a relay that dies in between adds
 * them again, under the same job id. SKIP LOCKED lets several relays share the work.
 */
const TAKE = prepared(
  'outbox-take',
  `delete from outbox where id in (select id from outbox order by id limit ${BATCH} for update skip locked)
   returning operation_id, dispatch, greatest(0, extract(epoch from not_before - clock_timestamp()) * 1000)::float8 as delay_ms`,
);

/** Carries wake-ups from the outbox into the queue: woken by NOTIFY, guaranteed by polling. The only caller of `queue.add`. */
@Injectable()
export class OutboxRelay {
  private readonly logger = new Logger('outbox');
  private readonly relaying = new WakeableTask(() => this.relay(), {
    // Rows that are added meanwhile share a transaction and a wake-up.
    gapMs: OUTBOX_GAP_MS,
    // The rows are still there; the next poll tries again.
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

/** Those of these rows that a wake-up is sent for. */
function rung(rows: readonly OutboxRow[]): OutboxRow[] {
  const due = rows.filter((row) => row.delay_ms === 0);
  const later = rows.filter((row) => row.delay_ms > 0);
  return [...due.filter((_, index) => index % DUE_PER_RING === 0), ...later];
}
