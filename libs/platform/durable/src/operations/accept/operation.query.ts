import {
  isBetween,
  KEYS,
  locking,
  lookup,
  prepared,
  type LargeColumns,
  type Reads,
  withinBytes,
} from '@slipway/platform-database';
import { actorText, OUTBOX_CHANNEL, WORKER, type WaitingFor } from '@slipway/contracts';
import { OPERATION_COLUMNS, STEP_COLUMNS } from '../operation.row.js';

/** The reason why an operation waits. A row of a previous release says only that it waits for a person. */
const WAITS_FOR = `case when o.status = 'waiting' then coalesce(o.waiting_for, case o.awaiting when 'approval' then 'approval' when 'pause' then 'decision' end) end`;

const OPERATION_WAITS = lookup(
  'operation-waits',
  `select o.id as key, ${WAITS_FOR} as "waitingFor" from operations o where o.id = any ${KEYS}`,
);

/** Returns what each of these operations waits for; one that does not wait is left out. */
export async function waitsOf(reads: Reads, ids: readonly string[]): Promise<Map<string, WaitingFor>> {
  if (ids.length === 0) return new Map();
  const rows = await reads.find<{ key: string; waitingFor: WaitingFor | null }>(OPERATION_WAITS, ids);
  return new Map(rows.flatMap(({ key, waitingFor }) => (waitingFor ? [[key, waitingFor] as const] : [])));
}

/*
 * Builds the record of an operation as JSON text in SQL. Reading an operation is the hottest read of the API, and
 * building objects only to print them again costs a third of its throughput.
 * - It is json, not jsonb: Postgres would build a jsonb as a tree only to print it. That halves the cost.
 * - It is built from a row, not from names and values, whose types Postgres would look up one by one. That
 *   reduces the cost to two thirds.
 * - `error_code` is a member only if the operation has one.
 */
const RECORD = `coalesce('{"error_code":' || to_json(o.error_code)::text || ',', '{') || substr((select row_to_json(r) from (select
    o.id, o.kind, o.progress, o.status, o.attempt, o.max_attempts, o.cancel_requested, o.cancel_reason,
    slipway_rfc3339(o.created_at) as created_at, slipway_rfc3339(o.updated_at) as updated_at,
    o.current_step, o.current_step_status, o.message, o.resource_name, o.resource_type, o.result, o.retryable, o.requested_by, o.reason,
    slipway_rfc3339(o.completed_at) as completed_at, o.superseded_by, ${WAITS_FOR} as waiting_for,
    case when o.status = 'waiting' and o.waiting_for = 'resume' then 'pause' else o.awaiting end as awaiting,
    case when o.completed_at is null then o.pause end as pause, slipway_rfc3339(o.wake_at) as resume_at,
    o.idempotency_key, o.request_id, coalesce((select json_agg(row_to_json(step)) from (
      select s.name, s.index, s.status, slipway_rfc3339(s.started_at) as started_at, slipway_rfc3339(s.completed_at) as completed_at,
        s.message, s.evidence
      from operation_steps s where s.operation_id = o.id order by s.index) step), '[]') as steps) r)::text, 2)`;

export const GET_OPERATION_RECORD = lookup(
  'operation-record',
  `select o.id as key, ${RECORD} as json from operations o where o.id = any ${KEYS} and o.tenant_id = $2`,
);

/** The same in the transaction that has just accepted the operation. */
export const FIND_OPERATION_RECORD = prepared(
  'operation-record-accepted',
  `select ${RECORD} as json from operations o where o.id = $1 and o.tenant_id = $2`,
);

/** The columns of a record that others fill. Evidence of steps is bounded when it is written. */
const LARGE: LargeColumns = { result: 'jsonb', pause: 'jsonb', requested_by: 'jsonb', reason: 'text', message: 'text' };

/** A list without filters, which is the most frequent one. One index answers it. */
export const NEWEST_OPERATION_RECORDS = lookup(
  'operation-newest',
  `select o.id, o.has_more, ${RECORD} as json from ${withinBytes(
    'o',
    'select * from operations where tenant_id = $1 and id < $2 order by id desc',
    '$3',
    LARGE,
  )} order by o.page_row`,
);

const listRecords = (past: '<' | '>', order: 'asc' | 'desc'): string =>
  `select o.id, o.has_more, ${RECORD} as json from ${withinBytes(
    'o',
    `select o.* from operations o
     where o.tenant_id = $1 and o.id ${past} $2 and ($4::text is null or o.status = $4)
       and ($5::text is null or o.kind = $5) and ($6::text is null or o.resource_name = $6) and ($7::text is null or ${WAITS_FOR} = $7)
       and ${isBetween('o.created_at', '$8', '$9')}
     order by o.id ${order}`,
    '$3',
    LARGE,
  )} order by o.page_row`;

/** The lists with filters, in each order. */
export const LIST_OPERATION_RECORDS = {
  desc: prepared('operation-list', listRecords('<', 'desc')),
  asc: prepared('operation-list-oldest', listRecords('>', 'asc')),
};

/*
 * Inserts the row of a request, or nothing if an earlier request with its key has inserted one. Two requests with one
 * key meet at the unique index: the second one waits for the first transaction and then inserts nothing. It reads the
 * row that it adopts with the next statement, whose snapshot sees that row. A refused request leaves no key, because
 * its transaction rolls the claim back.
 */
export const INSERT_OPERATION = prepared(
  'operation-accept',
  `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, requested_by, reason, method, path, idempotency_key, fingerprint, request_id)
   values ($1, $2, $3, $4, $5, '', '', $6, $7, $8, $9, $10, $11, $12)
   on conflict (tenant_id, method, path, idempotency_key) where idempotency_key is not null do nothing
   returning id`,
);

export const OPERATION_BY_KEY = prepared(
  'operation-by-key',
  `select id, fingerprint from operations where tenant_id = $1 and method = $2 and path = $3 and idempotency_key = $4`,
);

/**
 * The prefix is tested with a slash, so that it matches the paths below a path and not those that only begin with the
 * same letters.
 */
export const FORGET_OPERATION_KEYS = prepared(
  'operation-forget-keys',
  `update operations set idempotency_key = null
   where tenant_id = $1 and idempotency_key is not null and (path = $2 or starts_with(path, $2 || '/'))`,
);

/**
 * Completes a claimed row: its input, its steps, and the wake-up of the first dispatch. `OutboxBell` notifies the
 * relays after the commit.
 */
export const START_OPERATION = prepared(
  'operation-start',
  `with started as (
     update operations set resource_id = $2, stream = $3, input = $4, current_step = ($5::text[])[1], result = $6
     where id = $1 returning id, tenant_id, dispatch
   ), steps as (
     insert into operation_steps (operation_id, tenant_id, name, index)
     select started.id, started.tenant_id, step.name, step.ordinality - 1
     from started, unnest($5::text[]) with ordinality as step(name, ordinality)
   )
   insert into outbox (tenant_id, operation_id, dispatch) select tenant_id, id, dispatch from started`,
);

export const RING_OUTBOX = prepared('operation-ring', `select pg_notify('${OUTBOX_CHANNEL}', '')`);

/**
 * The event that `statusChanged` makes for the first claim of an operation, as it is stored, but without its id. `o` is
 * the row.
 */
export const STARTED_EVENT = `jsonb_build_object('type', 'operation.status_changed', 'subject', 'operations/' || o.id, 'actor', '${actorText(WORKER)}',
  'operationId', o.id, 'data', jsonb_build_object('operation_id', o.id, 'kind', o.kind, 'from', 'pending', 'status', 'running', 'resource_name', o."resourceName"))`;

export const READ_OPERATION = prepared(
  'operation-read',
  `select ${OPERATION_COLUMNS} from operations o where o.id = $1 and o.tenant_id = $2`,
);
export const LOCK_OPERATION = locking(
  'operation',
  prepared(
    'operation-lock',
    `select ${OPERATION_COLUMNS} from operations o where o.id = $1 and o.tenant_id = $2 for update`,
  ),
);
export const OPERATION_STEPS = lookup(
  'operation-steps',
  `select ${STEP_COLUMNS} from operation_steps s where s.operation_id = $1 order by s.index`,
);

/*
 * The changes that people make to an operation. Each is one statement under the row's lock, which the caller has taken.
 * The worker that holds the lease sees the change at its next commit or heartbeat.
 */
export const CANCEL_OPERATION = prepared(
  'operation-cancel',
  `update operations set cancel_requested = true, cancel_reason = $2, status = 'cancelling', wake_at = null, updated_at = now() where id = $1`,
);

/** Part of a `with`: counts the time of the pause that ends in the steps that ran meanwhile. */
const COUNTED_PAUSE = `counted as (
     update operation_steps s
     set paused_ms = s.paused_ms + 1000 * extract(epoch from now() - greatest(s.started_at, (o.pause->>'at')::timestamptz))
     from operations o where o.id = $1 and o.pause is not null and s.operation_id = o.id and s.status in ('running','waiting')
   )`;

const BY_PERSON = `'at', slipway_rfc3339(now()), 'by', $2::jsonb, 'reason', $3::text`;

/** The step that runs now sees the pause; a worker that has not seen it can commit no step. */
export const PAUSE_OPERATION = prepared(
  'operation-pause',
  `update operations set pause = jsonb_build_object(${BY_PERSON}), control_version = control_version + 1, wake_at = null, updated_at = now()
   where id = $1`,
);

/** An approval or a decision that it waits for as well stays open. */
export const END_OPERATION_PAUSE = prepared(
  'operation-end-pause',
  `with ${COUNTED_PAUSE}
   update operations set pause = null, control_version = control_version + 1, wake_at = null, updated_at = now(),
     awaiting = case when waiting_for = 'resume' then null else awaiting end,
     status = case when status = 'waiting' and awaiting is null or waiting_for = 'resume' then 'running' else status end
   where id = $1`,
);

/** Passes the step that runs now, or with `full` ($4) that one and all later ones. It ends a pause. */
export const PROMOTE_OPERATION = prepared(
  'operation-promote',
  `with ${COUNTED_PAUSE}
   update operations set promotion = jsonb_build_object('to', $4::text, 'step', current_step, ${BY_PERSON}), pause = null, awaiting = null,
     control_version = control_version + 1, status = 'running', wake_at = null, updated_at = now()
   where id = $1`,
);

export const RESUME_OPERATION = prepared(
  'operation-resume',
  `update operations set is_resumed = true, awaiting = null, status = 'running', wake_at = null, updated_at = now() where id = $1`,
);

/**
 * Sets the operation back to `pending`; it continues at the first step that has not succeeded. Steps that were undone
 * run again. A cancel that came after the failure is discarded.
 */
export const RETRY_OPERATION = prepared(
  'operation-retry',
  `with unwound as (
     delete from operation_steps where operation_id = $1 and is_unwind
   ), again as (
     update operation_steps set status = 'pending', started_at = null, completed_at = null, message = '', state = null, paused_ms = 0
     where operation_id = $1 and not is_unwind and status not in ('succeeded','skipped')
     returning name, index
   )
   update operations o set status = 'pending', phase = 'forward', failure = null, error_code = null, message = '', retryable = false, attempt = 0,
     completed_at = null, wake_at = null, lease_expires_at = null, updated_at = now(), current_step_status = 'pending', cancel_requested = false, cancel_reason = null,
     waiting_for = null, pause = null, promotion = null,
     input = o.input || $2::jsonb,
     current_step = (select name from again order by index limit 1),
     progress = (select 100 * count(*) filter (where s.status in ('succeeded','skipped')) / count(*) from operation_steps s
       where s.operation_id = o.id and not s.is_unwind)
   where id = $1`,
);

/** Ends an operation at once and makes every later write of its worker fail. */
export const SUPERSEDE_OPERATION = prepared(
  'operation-supersede',
  `with steps as (
     update operation_steps set status = 'cancelled', completed_at = now() where operation_id = $1 and status in ('running','waiting')
   )
   update operations set status = 'cancelled', error_code = $4, message = $2, superseded_by = $3, retryable = false,
     lease_version = lease_version + 1, lease_expires_at = null, wake_at = null, awaiting = null, current_step_status = 'cancelled',
     updated_at = now(), completed_at = now() where id = $1`,
);

/** Runs before an append in the middle of a step's commit; see `lockBeforeEvents`. */
export const LOCK_OPERATION_FOR_EVENTS = locking(
  'operation',
  prepared('operation-lock-for-events', `select 1 from operations where id = $1 for update`),
);

/** SQL: whether a stored operation was started with this token. */
export const tokenStartedOperation = (tenant: string, token: string): string =>
  `exists (select from operations where operations.tenant_id = ${tenant}
     and operations.requested_by->>'type' = 'token' and operations.requested_by->>'id' = ${token})`;
