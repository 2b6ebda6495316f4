import { locking, prepared } from '@slipway/platform-database';

/** Streams that one batch checks. */
export const STREAMS = 100;

/** Time until the next check of a stream whose events are still needed, because the end of a need is unknown. */
const HELD_FOR = `interval '1 hour'`;
/**
 * Time until the next check of a stream that has only its newest event left. There may be very many of those, and each
 * check is a write.
 */
const IDLE_FOR = `interval '1 day'`;

/**
 * Lets one process at a time delete, because two would find the same events. The lock is held for a batch, so that it
 * ends with a process that dies.
 */
export const LOCK_EVENT_RETENTION = prepared(
  'event-retention-turn',
  `select pg_try_advisory_xact_lock(hashtextextended('slipway.event-retention', 0)) as "isTaken"`,
);

/**
 * Finds in the streams that begin with the oldest events what may be deleted of each, [first, kept), and why no more.
 * $1 days, $2 rows to find over all of them.
 *
 * - Streams are found by `oldest_at`, and events by the primary key from `first_sequence` on. An index on the time of
 *   events would make every append more expensive. A migration could not create it alongside writers. It would also
 *   begin with all events that are deleted and not yet vacuumed.
 * - Only the beginning of a stream is deleted, so that what is kept has no gaps. The first event that is young enough
 *   ends it, whatever the times of later events are. The newest event also ends it, because a stream without any event
 *   could not say where it ends.
 * - A stream with more than its share remains the oldest one and is found again at once, then with a larger share.
 */
export const FIND_EXPIRED_EVENTS = prepared(
  'event-retention-find',
  `with cut as (
     select now() - make_interval(days => $1) as at
   ), due as (
     select stream, tenant_id, first_sequence, last_sequence from event_streams
     where oldest_at < now() - make_interval(days => $1) order by oldest_at limit ${STREAMS}
   ), share as (
     select ceil($2::numeric / greatest(count(*), 1))::int as rows from due
   )
   select due.stream, due.tenant_id as "tenantId", coalesce(old.first, due.first_sequence)::text as first,
     coalesce(old.kept, due.last_sequence + 1)::text as kept,
     case when old.time >= cut.at or old.place > share.rows then old.time else cut.at + ${IDLE_FOR} end::text as "oldestAt",
     (cut.at + ${HELD_FOR})::text as "heldUntil",
     coalesce(old.time < cut.at and old.place > share.rows, false) as "hasMore"
   from due cross join cut cross join share left join lateral (
     select sequence as kept, time, place, first from (
       select e.sequence, e.time, row_number() over (order by e.sequence) as place, first_value(e.sequence) over (order by e.sequence) as first
       from events e where e.stream = due.stream and e.sequence >= due.first_sequence and e.sequence <= due.last_sequence
       order by e.sequence limit share.rows + 1
     ) e
     where time >= cut.at or sequence = due.last_sequence or place > share.rows
     order by sequence limit 1
   ) old on true`,
);

/** By ctid, not by a join: the planner expects a join to match many rows, and would read the whole table. */
export const DELETE_EVENTS = prepared(
  'event-retention-delete',
  `with gone as (
     delete from events where ctid = any (array(
       select e.ctid from jsonb_to_recordset($1::jsonb) as r(stream text, first bigint, kept bigint)
       cross join lateral (
         select ctid from events e where e.stream = r.stream and e.sequence >= r.first and e.sequence < r.kept order by e.sequence limit $2
       ) e))
     returning 1
   )
   select count(*)::int as count from gone`,
);

/**
 * Runs last in the transaction, and skips streams that another transaction appends to just now. Waiting for one of them
 * would block appends to all the others. A skipped stream is found again and has nothing left to delete; meanwhile its
 * events show where it begins.
 */
export const MOVE_STREAM_START = locking(
  'event_stream',
  prepared(
    'event-retention-move',
    `with locked as (
       select r.stream, r.kept, r."oldestAt" from event_streams s
       join jsonb_to_recordset($1::jsonb) as r(stream text, kept bigint, "oldestAt" timestamptz) on r.stream = s.stream
       for no key update of s skip locked
     )
     update event_streams s set first_sequence = greatest(s.first_sequence, locked.kept), oldest_at = locked."oldestAt"
     from locked where s.stream = locked.stream returning 1`,
  ),
  ([ranges]) => (JSON.parse(ranges as string) as { stream: string }[]).map(({ stream }) => stream),
);

/** Events that subscriptions have not received yet. The inbox is short, and no index of it begins with the stream. */
export const EVENTS_IN_INBOX = prepared(
  'event-retention-inbox',
  `select i.stream, min(i.sequence)::text as sequence
   from jsonb_to_recordset($1::jsonb) as r(stream text, first bigint, kept bigint)
   join event_inbox i on i.stream = r.stream and i.sequence >= r.first and i.sequence < r.kept group by i.stream`,
);
