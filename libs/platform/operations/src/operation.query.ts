import { lookup, prepared } from '@slipway/platform-database';
import { OUTBOX_CHANNEL } from './dispatch.js';
import { OPERATION_COLUMNS, STEP_COLUMNS } from './operation.row.js';

/*
 * The record of api.md 2.2 is made as JSON text in SQL, because reading an operation is the hottest read of the API and
 * building objects only to print them again costs a third of its throughput.
 */
export const RECORD = `json_strip_nulls(json_build_object('error_code', o.error_code))::jsonb || jsonb_build_object(
    'id', o.id, 'kind', o.kind, 'progress', o.progress, 'status', o.status, 'attempt', o.attempt, 'max_attempts', o.max_attempts,
    'cancel_requested', o.cancel_requested, 'created_at', slipway_rfc3339(o.created_at), 'updated_at', slipway_rfc3339(o.updated_at),
    'current_step', o.current_step, 'current_step_status', o.current_step_status, 'message', o.message,
    'resource_name', o.resource_name, 'resource_type', o.resource_type, 'result', o.result, 'retryable', o.retryable,
    'requested_by', o.requested_by, 'reason', o.reason, 'completed_at', slipway_rfc3339(o.completed_at), 'superseded_by', o.superseded_by,
    'steps', coalesce((select jsonb_agg(jsonb_build_object('name', s.name, 'index', s.index, 'status', s.status,
        'started_at', slipway_rfc3339(s.started_at), 'completed_at', slipway_rfc3339(s.completed_at),
        'message', s.message, 'evidence', s.evidence) order by s.index)
      from operation_steps s where s.operation_id = o.id), '[]'::jsonb))`;

export const GET_RECORD = lookup(
  'operation-record',
  `select (${RECORD})::text as json from operations o where o.id = $1 and o.tenant_id = $2`,
);

export const LIST_RECORDS = prepared(
  'operation-list',
  `select o.id, (${RECORD})::text as json from operations o
   where o.tenant_id = $1 and ($2::text is null or o.id < $2) and ($3::text is null or o.status = $3)
     and ($4::text is null or o.kind = $4) and ($5::text is null or o.resource_name = $5)
   order by o.id desc limit $6`,
);

/*
 * The claim. Two requests with one key meet at the unique index: the second waits for the first transaction, then inserts
 * nothing, and reads the row it adopts with the next statement, whose snapshot sees it. Inserting first, checking later, is
 * what makes a refused request leave no key: its transaction rolls the claim back.
 */
export const CLAIM = prepared(
  'operation-claim',
  `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by, reason, method, path, idempotency_key, fingerprint)
   values ($1, $2, $3, $4, $5, '', '', $6, $7, $8, $9, $10, $11)
   on conflict (tenant_id, method, path, idempotency_key) where idempotency_key is not null do nothing
   returning id`,
);

export const FIND_BY_KEY = prepared(
  'operation-by-key',
  `select id, fingerprint from operations where tenant_id = $1 and method = $2 and path = $3 and idempotency_key = $4`,
);

/** Completes a claimed row: what to do, its steps, and the wake-up of the first dispatch. */
export const START = prepared(
  'operation-start',
  `with started as (
     update operations set resource_id = $2, stream = $3, input = $4, current_step = ($5::text[])[1], result = $6
     where id = $1 returning id, tenant_id, dispatch
   ), steps as (
     insert into operation_steps (operation_id, tenant_id, name, index)
     select started.id, started.tenant_id, step.name, step.ordinality - 1
     from started, unnest($5::text[]) with ordinality as step(name, ordinality)
   ), sent as (
     insert into outbox (tenant_id, operation_id, dispatch) select tenant_id, id, dispatch from started returning id
   )
   select pg_notify('${OUTBOX_CHANNEL}', '') from sent`,
);

export const READ = prepared(
  'operation-read',
  `select ${OPERATION_COLUMNS} from operations o where o.id = $1 and o.tenant_id = $2`,
);
export const LOCK = prepared(
  'operation-lock',
  `select ${OPERATION_COLUMNS} from operations o where o.id = $1 and o.tenant_id = $2 for update`,
);
export const STEPS = lookup(
  'operation-steps',
  `select ${STEP_COLUMNS} from operation_steps s where s.operation_id = $1 order by s.index`,
);

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
export const ACQUIRE = prepared(
  'operation-acquire',
  `update operations o set
     lease_version = o.lease_version + 1, lease_owner = $2, lease_expires_at = now() + make_interval(secs => $3),
     attempt = case when o.status = 'pending' then 1 when o.lease_expires_at is not null then o.attempt + 1 else greatest(o.attempt, 1) end,
     status = case when o.status = 'pending' then 'running' else o.status end,
     current_step_status = case when o.current_step_status = 'pending' then 'running' else o.current_step_status end,
     wake_at = null, updated_at = case when o.status = 'pending' then now() else o.updated_at end
   from (select id, status from operations where id = $1 for update) as before
   where o.id = before.id and o.status in ('pending','running','waiting','cancelling')
     and (o.lease_expires_at is null or o.lease_expires_at < now())
     and (o.cancel_requested or o.is_resumed or (o.awaiting is null and (o.wake_at is null or o.wake_at <= now() + interval '5 milliseconds')))
   returning ${OPERATION_COLUMNS}, before.status = 'pending' as "isFirst"`,
);

export const HEARTBEAT = prepared(
  'operation-heartbeat',
  `update operations o set lease_expires_at = now() + make_interval(secs => $3)
   from unnest($1::text[], $2::bigint[]) as held(id, version)
   where o.id = held.id and o.lease_version = held.version and o.status in ('pending','running','waiting','cancelling')
   returning o.id, o.cancel_requested "cancelRequested"`,
);

/*
 * What the sweeper repeats, without any input: live rows that nobody holds (or whose lease ran out), that are due, and
 * whose newest job was sent a while ago. It repairs a lost queue, a killed worker and a relay that died after its add.
 */
export const SWEEP = prepared(
  'operation-sweep',
  `with due as (
     select id from operations
     where status in ('pending','running','waiting','cancelling')
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
