import { prepared } from '@slipway/platform-database';

/**
 * A new webhook begins after every event that is committed now. An event that commits later has a later sequence, and a
 * stream that appears later has no queue yet, which counts as 0: the webhook misses nothing after its creation. One
 * statement for all streams of the tenant, however many there are. A webhook that is enabled again begins likewise.
 */
export const BEGIN_DELIVERY_QUEUES = prepared(
  'webhooks-queues-begin',
  `insert into webhook_lanes (webhook_id, stream, tenant_id, sequence)
   select $1, s.stream, s.tenant_id, s.last_sequence from event_streams s where s.tenant_id = $2
   on conflict (webhook_id, stream) do update set sequence = excluded.sequence`,
);

/**
 * The first lock of every change of a webhook. A fan-out reads its filter under a lock that excludes it. `no key`: a
 * second update of a queue within one transaction checks its foreign key, and must not wait here with the queue locked.
 */
export const LOCK_WEBHOOK = prepared(
  'webhooks-lock',
  `select id from webhooks where tenant_id = $1 and id = $2 for no key update`,
);

/**
 * Locks the queues of a webhook that have something pending, in one order. They are locked before their deliveries, as
 * everywhere in this area.
 */
export const LOCK_PENDING_QUEUES = prepared(
  'webhooks-queues-lock',
  `select 1 from webhook_lanes where webhook_id = $1 and due_at is not null order by stream for update`,
);

/**
 * Sends what waits for its next attempt now: the receiver is another one, or only what waits for the end of its pause
 * (`$2`). It needs all streams of the webhook in one statement. A queue waits if its first delivery does; any other is
 * due or has a sender, and stays as it is.
 */
export const WAKE_WAITING_QUEUES = prepared(
  'webhooks-queues-wake',
  `with heads as (
     select distinct on (stream) stream, event_id, next_attempt_at from webhook_deliveries
     where webhook_id = $1 and status = 'pending' order by stream, sequence
   ), woken as (
     update webhook_deliveries d set next_attempt_at = now() from heads
     where d.webhook_id = $1 and d.event_id = heads.event_id and heads.next_attempt_at > now()
       and (not $2::boolean or heads.next_attempt_at = (select paused_until from webhooks where id = $1)) returning d.stream
   )
   update webhook_lanes l set due_at = now(), lease_version = l.lease_version + 1
   from woken where l.webhook_id = $1 and l.stream = woken.stream`,
);

/** Events are a table of the platform, and found by their place in their stream: there is no index of their ids. */
export const FIND_EVENT = prepared(
  'webhooks-event-find',
  `select id, type from events where tenant_id = $1 and stream = $2 and sequence = $3::bigint`,
);
