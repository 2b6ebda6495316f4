import { LIVE_STATUSES, OUTBOX_CHANNEL, sqlList } from '@slipway/contracts';
import { lookup, locking, prepared } from '@slipway/platform-database';
import { OPERATION_COLUMNS } from '../operation.row.js';

const LIVE = sqlList(LIVE_STATUSES);

/** The row as its worker sees it again: nothing once the lease has gone to another or the operation has ended. */
export const HELD = lookup(
  'operation-held',
  `select ${OPERATION_COLUMNS} from operations o where o.id = $1 and o.lease_version = $2 and o.status in ('running','waiting','cancelling')`,
);

export const FIRST_STEP_BEGINS = prepared(
  'operation-first-step',
  `update operation_steps set status = 'running', started_at = coalesce(started_at, now()) where operation_id = $1 and name = $2`,
);

/*
 * Takes the lease. Only a row nobody holds, or whose holder's lease ran out (a crash: that counts as a try), and that is
 * due. A cancel makes it due at once. The version rises by one; whoever held the one before can write no more.
 */
export const ACQUIRE = locking(
  'operation',
  prepared(
    'operation-acquire',
    `update operations o set
     lease_version = o.lease_version + 1, lease_owner = $2, lease_expires_at = now() + make_interval(secs => $3),
     attempt = case when o.status = 'pending' then 1 when o.lease_expires_at is not null then o.attempt + 1 else greatest(o.attempt, 1) end,
     status = case when o.status = 'pending' then 'running' else o.status end,
     current_step_status = case when o.current_step_status = 'pending' then 'running' else o.current_step_status end,
     wake_at = null, updated_at = case when o.status = 'pending' then now() else o.updated_at end
   from (select id, status from operations where id = $1 for update) as before
   where o.id = before.id and o.status in (${LIVE})
     and (o.lease_expires_at is null or o.lease_expires_at < now())
     and (o.cancel_requested or o.is_resumed or (o.awaiting is null and (o.wake_at is null or o.wake_at <= now() + interval '5 milliseconds')))
   returning ${OPERATION_COLUMNS}, before.status = 'pending' as "isFirst"`,
  ),
);

export const HEARTBEAT = prepared(
  'operation-heartbeat',
  `update operations o set lease_expires_at = now() + make_interval(secs => $3)
   from unnest($1::text[], $2::bigint[]) as held(id, version)
   where o.id = held.id and o.lease_version = held.version and o.status in (${LIVE})
   returning o.id, o.cancel_requested "cancelRequested"`,
);

/*
 * What the repair repeats, without any input: live rows that nobody holds (or whose lease ran out), that are due, and
 * whose newest job was sent a while ago. It repairs a lost queue, a killed worker and a relay that died after its add.
 */
export const REPAIR = prepared(
  'operation-repair',
  `with due as (
     select id from operations
     where status in (${LIVE})
       and (lease_expires_at is null or lease_expires_at < now())
       and (cancel_requested or is_resumed or awaiting is null)
       and (cancel_requested or wake_at is null or wake_at < now() - make_interval(secs => $1))
       and dispatched_at < now() - make_interval(secs => $1)
     order by dispatched_at limit 500 for update skip locked
   ), numbered as (
     update operations o set dispatch = dispatch + 1, dispatched_at = now() from due where o.id = due.id
     returning o.id, o.tenant_id, o.dispatch
   ), sent as (
     insert into outbox (tenant_id, operation_id, dispatch) select tenant_id, id, dispatch from numbered returning id
   )
   select pg_notify('${OUTBOX_CHANNEL}', '') from sent limit 1`,
);
