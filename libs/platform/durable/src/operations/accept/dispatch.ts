import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { locking, prepared, type Tx } from '@slipway/platform-database';

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

/** Puts a wake-up for a live operation into the outbox, in the transaction that makes the wake-up necessary. */
export async function dispatch(tx: Tx, operationId: string): Promise<void> {
  await tx.query(DISPATCH, [operationId]);
}

/**
 * Makes a sleeping operation run now. An operation that is running at this moment is not notified, because its step
 * polls anyway. So a step that relies on being woken still needs a limit for its sleep.
 */
export async function wake(tx: Tx, operationId: string): Promise<void> {
  await tx.query(WAKE, [operationId]);
  await dispatch(tx, operationId);
}
