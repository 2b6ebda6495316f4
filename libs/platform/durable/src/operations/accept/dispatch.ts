import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { Database, locking, prepared, type Tx } from '@slipway/platform-database';
import { WakeableTask } from '../../scheduling/index.js';

const DISPATCH = locking(
  'operation',
  prepared(
    'operation-dispatch',
    `with numbered as (
     update operations set dispatch = dispatch + 1, dispatched_at = now()
     where id = $1 and status in ('pending','running','waiting','cancelling')
     returning id, tenant_id, dispatch, dispatched_at
   ), sent as (
     insert into outbox (tenant_id, operation_id, dispatch, not_before) select tenant_id, id, dispatch, dispatched_at from numbered returning id
   )
   select pg_notify('${OUTBOX_CHANNEL}', '') from sent`,
  ),
);

const WAKE = locking(
  'operation',
  prepared(
    'operation-wake',
    `update operations set wake_at = null where id = $1 and awaiting is null and wake_at is not null`,
  ),
);

const RING = prepared('operation-ring', `select pg_notify('${OUTBOX_CHANNEL}', '')`);

/** Least time between two rings of a process: as long as the relay waits between two batches. */
const RING_GAP_MS = 25;

/**
 * Tells the relays, after the commit of an accepted operation, that the outbox has rows. Not in that transaction: commits that notify wait for
 * each other, which took more than half of what accepting an operation costs. A ring that is lost costs a second, because relays also poll.
 */
@Injectable()
export class OutboxBell implements OnModuleDestroy {
  private readonly ringing = new WakeableTask(() => this.notify(), { onError: () => undefined, gapMs: RING_GAP_MS });

  constructor(private readonly database: Database) {}

  /** Returns at once. Rings of the same 25 ms are one. */
  ring(): void {
    void this.ringing.wake();
  }

  /** Waits for a ring that has begun. */
  onModuleDestroy(): Promise<void> {
    return this.ringing.stop();
  }

  private async notify(): Promise<void> {
    await this.database.once('system', RING);
  }
}

/** Puts a wake-up for a live operation into the outbox, in the transaction of what made it necessary. */
export async function dispatch(tx: Tx, operationId: string): Promise<void> {
  await tx.query(DISPATCH, [operationId]);
}

/**
 * Lets a sleeping operation run now. One that is running at this moment is not told: its step looks again by itself,
 * so a step that counts on being woken still sleeps with a bound.
 */
export async function wake(tx: Tx, operationId: string): Promise<void> {
  await tx.query(WAKE, [operationId]);
  await dispatch(tx, operationId);
}
