import { LIVE_STATUSES, sqlList } from '@slipway/contracts';
import { listOf, lookup, locking, prepared } from '@slipway/platform-database';
import { appending } from '../../events/index.js';
import { STARTED_EVENT } from '../accept/operation.query.js';
import { OPERATION_COLUMNS, OPERATION_NAMES, STEP_COLUMNS, STEP_NAMES } from '../operation.row.js';

const LIVE = sqlList(LIVE_STATUSES);

/** The row that a worker reads again. It finds nothing once another worker has the lease or the operation has ended. */
export const HELD_OPERATION = lookup(
  'operation-held',
  `select ${OPERATION_COLUMNS} from operations o where o.id = $1 and o.lease_version = $2 and o.status in ('running','waiting','cancelling')`,
);

/**
 * Takes the lease of the given rows. The version rises by one, so the previous holder can write no more. The first
 * claim also starts the first step and appends its event. It is one statement, because taking must be one round trip.
 * So `steps` are the steps from before the statement, and `changed` is what it wrote. If `isLate`, another worker has
 * held the operation since then, so the steps must be read again. Values: the owner, the seconds of the lease, and ids
 * for the events.
 * @param before the rows to take, in their earlier state
 */
const taking = (before: string): string => `with taken as (
   update operations o set
     lease_version = o.lease_version + 1, lease_owner = $1, lease_expires_at = now() + make_interval(secs => $2),
     attempt = case when o.status = 'pending' then 1 when o.lease_expires_at is not null then o.attempt + 1 else greatest(o.attempt, 1) end,
     status = case when o.status = 'pending' then 'running' else o.status end,
     current_step_status = case when o.current_step_status = 'pending' then 'running' else o.current_step_status end,
     wake_at = null, updated_at = case when o.status = 'pending' then now() else o.updated_at end
   from ${before} as before where o.id = before.id
   returning ${OPERATION_COLUMNS}, before.status = 'pending' as "isFirst"
   ), begun as (
     update operation_steps s set status = 'running', started_at = coalesce(s.started_at, now())
     from taken where taken."isFirst" and s.operation_id = taken.id and s.name = taken."currentStep"
     returning s.operation_id, ${STEP_COLUMNS}
   ), told as (
     select stream, tenant_id, jsonb_agg(event) as events from (
       select o.stream, o."tenantId" as tenant_id, ${STARTED_EVENT} || jsonb_build_object('id', ($3::text[])[row_number() over ()]) as event
       from taken o where o."isFirst") first
     group by stream, tenant_id
   ), ${appending('told')}
   select ${OPERATION_NAMES}, (select coalesce(json_agg(row_to_json(step)), '[]') from (
     select ${STEP_COLUMNS} from operation_steps s where s.operation_id = taken.id order by s.index) step) as steps,
     (select coalesce(json_agg(row_to_json(step)), '[]') from (select ${STEP_NAMES} from begun where operation_id = taken.id) step) as changed,
     taken."leaseVersion" <> 1 + (select o.lease_version from operations o where o.id = taken.id) as "isLate"
   from taken`;

/*
 * Takes what is due, the longest due first. An operation is due (`due_at`) if it is live, no worker holds it, and it
 * neither sleeps nor waits for a person, or it was cancelled.
 * - SKIP LOCKED shares the work among workers. The claim skips the tenants in $6, so that one tenant does
 *   not take all of it.
 * - The outer condition makes the planner expect one row. Otherwise it would expect a tenth of all due rows, and read
 *   the whole table for those.
 * - Outbound kinds ($7) have a limit of their own ($9), so that their small share does not make every claim small.
 */
export const CLAIM_OPERATIONS = prepared(
  'operation-claim',
  taking(`(
     select id, status from (
       select * from (
         select id, status, due_at from operations
         where due_at <= now() + interval '5 milliseconds' and kind = any($5) and not tenant_id = any($6)
         order by due_at limit $4 for update skip locked) prompt
       union all
       select * from (
         select id, status, due_at from operations
         where due_at <= now() + interval '5 milliseconds' and kind = any($7) and not tenant_id = any($6) and not tenant_id = any($8)
         order by due_at limit $9 for update skip locked) outbound
       order by due_at limit $4) due
     where id = id || '')`),
);

/* Takes one operation, also from a worker whose lease has expired. That was a crash, which counts as an attempt. */
export const ACQUIRE_OPERATION = locking(
  'operation',
  prepared(
    'operation-acquire',
    taking(`(
     select id, status from operations
     where id = $4 and status in (${LIVE}) and (due_at <= now() + interval '5 milliseconds' or lease_expires_at < now()) for update)`),
  ),
  ([, , , id]) => [id as string],
);

/*
 * Renews only leases that are still held. If the commit of a sleep was just written and the worker has not heard of it,
 * the version is still the worker's. Without this condition the renewal would give the sleeping operation a lease that
 * no worker drives or gives back.
 */
export const RENEW_LEASES = prepared(
  'operation-heartbeat',
  `update operations o set lease_expires_at = now() + make_interval(secs => $3)
   from ${listOf('held', { id: 'text', version: 'bigint' })}
   where o.id = held.id and o.lease_version = held.version and o.is_held and o.status in (${LIVE})
   returning o.id, o.cancel_requested "cancelRequested"`,
);

/*
 * Frees the operations of dead workers: each is due again, and the attempt counts. The version rises, so that a worker
 * that was only slow can write no more.
 */
export const FREE_OPERATIONS = prepared(
  'operation-free',
  `update operations o set lease_version = o.lease_version + 1, lease_expires_at = null, attempt = o.attempt + 1
   from (select id from operations where is_held and lease_expires_at < now() limit 500 for update skip locked) as dead
   where o.id = dead.id`,
);
