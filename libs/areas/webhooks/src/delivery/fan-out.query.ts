import { prepared } from '@slipway/platform-database';

/** Most events of one stream that one transaction turns into deliveries, per webhook. */
export const FAN_OUT_PAGE = 200;
/** Most streams that one scan returns. */
export const FAN_OUT_SCAN_PAGE = 1_000;

const IS_BEHIND = `exists (
  select 1 from webhooks w left join webhook_lanes l on l.webhook_id = w.id and l.stream = s.stream
  where w.tenant_id = s.tenant_id and w.state = 'active' and s.last_sequence > coalesce(l.sequence, 0))`;

/**
 * Returns which of the named streams have events that have not become deliveries of every webhook: a join, and hot,
 * because every event runs it.
 */
export const FILTER_STREAMS_BEHIND = prepared(
  'webhooks-streams-behind-of',
  `select s.stream, s.tenant_id from event_streams s where s.stream = any($1::text[]) and not s.tenant_id = any($2::text[]) and ${IS_BEHIND}`,
);

/**
 * The same for all streams. It makes lost notifications harmless. It starts at the webhooks, because few tenants have
 * any.
 */
export const FIND_STREAMS_BEHIND = prepared(
  'webhooks-streams-behind',
  `select s.stream, s.tenant_id from event_streams s
   where s.tenant_id in (select tenant_id from webhooks where state = 'active' and not tenant_id = any($1::text[])) and ${IS_BEHIND} limit ${FAN_OUT_SCAN_PAGE}`,
);

/*
 * One stream is turned into deliveries by four statements in one transaction. Locks are taken in the order webhook,
 * queue, delivery, as everywhere in this area:
 * - the webhooks, so that none is disabled or deleted between the read and its deliveries;
 * - their queues, created if a stream is new. Two workers that were woken by the same event wait here one after the
 *   other, and the second finds nothing left. It must wait and not skip: the first may have read before the newest
 *   event was committed.
 * - then, with a fresh snapshot after these locks, the page itself.
 */
/** `for share`: workers may read at the same time, and only a change of the webhook waits. */
export const LOCK_WEBHOOKS = prepared(
  'webhooks-fan-out-lock',
  `select w.id from webhooks w where w.tenant_id = (select s.tenant_id from event_streams s where s.stream = $1) and w.state = 'active' order by w.id for share`,
);

/** Counts the waiting deliveries of a tenant, at most up to its limit. */
export const COUNT_PENDING_DELIVERIES = prepared(
  'webhooks-pending-of-tenant',
  `select count(*)::int as count from (select from webhook_deliveries where tenant_id = $1 and status = 'pending' limit $2) pending`,
);

/** Two workers may add the same queues at once: `on conflict` lets both continue. */
export const ADD_DELIVERY_QUEUES = prepared(
  'webhooks-fan-out-queues',
  `insert into webhook_lanes (webhook_id, stream, tenant_id, sequence)
   select w.id, $1, w.tenant_id, 0 from webhooks w where w.id = any($2::text[]) order by w.id on conflict do nothing`,
);

/** In one order, so that two workers cannot wait for each other. */
export const LOCK_DELIVERY_QUEUES = prepared(
  'webhooks-fan-out-lock-queues',
  `select 1 from webhook_lanes where stream = $1 and webhook_id = any($2::text[]) order by webhook_id for update`,
);

/**
 * One statement for the page, the deliveries and the cursors, so that the events stay in Postgres. The queue moves over
 * everything it has read, wanted or not. `due_at` of a queue that already has something pending stays: it is a back-off
 * or a lease, and a new event must not cut either short.
 */
export const ADVANCE_DELIVERY_QUEUES = prepared(
  'webhooks-fan-out-advance',
  `with queue as (
     select l.webhook_id, l.tenant_id, l.sequence, w.event_types, w.streams
     from webhook_lanes l join webhooks w on w.id = l.webhook_id where l.stream = $1 and l.webhook_id = any($2::text[])
   ), page as (
     select queue.webhook_id, queue.tenant_id, e.sequence, e.id, e.type,
       (cardinality(queue.event_types) = 0 or e.type = any(queue.event_types) or split_part(e.type, '.', 1) || '.*' = any(queue.event_types))
       and (cardinality(queue.streams) = 0 or $1 = any(queue.streams)) as is_wanted
     from queue cross join lateral (
       select sequence, id, type from events where stream = $1 and sequence > queue.sequence order by sequence limit $3) e
   ), added as (
     insert into webhook_deliveries (webhook_id, event_id, tenant_id, stream, sequence, event_type)
     select webhook_id, id, tenant_id, $1, sequence, type from page where is_wanted on conflict (webhook_id, event_id) do nothing
   ), read as (
     select webhook_id, max(sequence) as last, bool_or(is_wanted) as has_wanted, count(*)::int as count from page group by webhook_id
   ), moved as (
     update webhook_lanes l set sequence = read.last, due_at = case when read.has_wanted then coalesce(l.due_at, now()) else l.due_at end
     from read where l.webhook_id = read.webhook_id and l.stream = $1 returning read.count
   )
   select coalesce(max(count), 0)::int as most from moved`,
);

/**
 * Skips events beyond the cursor that are no longer kept. Without this the stream would need work for ever. It updates
 * all queues of the stream at once.
 */
export const SKIP_UNKEPT_EVENTS = prepared(
  'webhooks-fan-out-skip',
  `update webhook_lanes l set sequence = s.last_sequence from event_streams s
   where s.stream = $1 and l.stream = $1 and l.webhook_id = any($2::text[]) and l.sequence < s.last_sequence
     and not exists (select 1 from events e where e.stream = $1 and e.sequence > l.sequence)`,
);

/**
 * Returns the first event of each stream that some webhook still needs: it has not become a delivery, or the delivery
 * has not been sent. The body of a delivery is read from the stream when it is sent. A webhook without a queue needs
 * all of a stream, as above.
 */
export const FIND_FIRST_NEEDED_EVENTS = prepared(
  'webhooks-first-needed',
  `select r.stream, min(least(coalesce(l.sequence, 0) + 1, pending.sequence))::text as sequence
   from jsonb_to_recordset($1::jsonb) as r(stream text, "tenantId" text, first bigint, kept bigint)
   join webhooks w on w.tenant_id = r."tenantId" and w.state = 'active'
   left join webhook_lanes l on l.webhook_id = w.id and l.stream = r.stream
   left join lateral (
     select min(d.sequence) as sequence from webhook_deliveries d where d.webhook_id = w.id and d.stream = r.stream and d.status = 'pending'
   ) pending on true
   group by r.stream`,
);
