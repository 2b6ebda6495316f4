import { tenantNameOf } from '@slipway/platform-http/auth';
import { prepared } from '@slipway/platform-database';

/*
 * A queue (one stream to one webhook) is leased as a whole, so that its deliveries leave in order and no two workers
 * send one at once. The lease is `due_at` itself: the worker that takes the queue moves it into the future, and a
 * killed worker's queue becomes due again by itself. `lease_version` fences: a sender that was paused beyond its lease
 * finds that its writes change nothing.
 */

export interface DeliveryQueueRow {
  webhook_id: string;
  stream: string;
  tenant_id: string;
  /** Decides which hosts the delivery may call. */
  tenant_name: string;
  lease_version: number;
  url: string;
  /** Host of the URL, and its port unless the scheme implies it. */
  receiver: string;
  sealed_secret: string;
  /** The secret before the last rotation, while receivers may still use it. */
  sealed_previous_secret: string | null;
  /** The version of the webhook whose URL and secrets these are. */
  version: number;
  /** The `changes` of the queue when it was claimed. */
  changes: number;
  /** Whether the receiver has requested that nothing is sent now. */
  is_paused: boolean;
}

const FROM_NOW = (parameter: string) => `clock_timestamp() + make_interval(secs => ${parameter}::float8 / 1000)`;

/** A port that the scheme implies is left out: otherwise one server would have the share of several. */
const RECEIVER = `regexp_replace(lower(substring(w.url from '^[^/?#]*//[^/?#]*')),
  '^https://(.*):(?:0*443)?$|^http://(.*):(?:0*80)?$|^[^/]*//', '\\1\\2')`;

/**
 * Claims the queue that has been due longest, except those of tenants ($2), webhooks ($3) and receivers ($4) that
 * already have their share of this process. SQL for SKIP LOCKED: workers that claim at once take different queues.
 * `now()`, because the index ends at it: queues that wait for their next attempt, however many, are not read.
 */
export const CLAIM_DELIVERY_QUEUE = prepared(
  'webhooks-queue-claim',
  `with due as (
     select l.webhook_id, l.stream, w.url, ${RECEIVER} as receiver, w.sealed_secret, w.version, w.paused_until,
       case when w.previous_secret_until > now() then w.sealed_previous_secret end as sealed_previous_secret
     from webhook_lanes l join webhooks w on w.id = l.webhook_id
     where l.due_at <= now() and l.tenant_id <> all($2::text[]) and l.webhook_id <> all($3::text[]) and ${RECEIVER} <> all($4::text[])
     order by l.due_at limit 1 for update of l skip locked
   )
   update webhook_lanes l set due_at = ${FROM_NOW('$1')}, lease_version = l.lease_version + 1
   from due where l.webhook_id = due.webhook_id and l.stream = due.stream
   returning l.webhook_id, l.stream, l.tenant_id,
     ${tenantNameOf('l.tenant_id')} as tenant_name, l.lease_version::float8 as lease_version, l.changes::float8 as changes, due.url, due.receiver, due.sealed_secret,
     due.sealed_previous_secret, due.version::float8 as version, coalesce(due.paused_until > now(), false) as is_paused`,
);

/** $1 webhook, $2 stream, $3 lease version, $4 the queue's next due time from now. */
const RENEW_QUEUE_LEASE = `queue as (
     update webhook_lanes set due_at = ${FROM_NOW('$4')} where webhook_id = $1 and stream = $2 and lease_version = $3::bigint returning webhook_id, changes
   )`;

/**
 * Ends one delivery and renews the lease; returns no row if the lease was lost or the delivery was skipped, else the
 * versions by which a sender notices a change. One statement for all, because every delivery runs it.
 */
export const END_WEBHOOK_DELIVERY = prepared(
  'webhooks-delivery-end',
  `with ${RENEW_QUEUE_LEASE}
   update webhook_deliveries d set status = $6, attempts = d.attempts + $7::int, response_status = $8::int, error = $9,
     duration_ms = $10::int, next_attempt_at = null, last_attempt_at = clock_timestamp(), completed_at = clock_timestamp()
   from queue where d.webhook_id = queue.webhook_id and d.event_id = $5 and d.status = 'pending'
   returning (select w.version::float8 from webhooks w where w.id = d.webhook_id) as version, queue.changes::float8 as changes`,
);

/**
 * Postpones the first delivery of a queue, and with it the queue; returns no row if the lease was lost. One statement
 * for both, with one clock. If the webhook has changed ($9), its new receiver has refused nothing, and does not wait.
 */
export const POSTPONE_WEBHOOK_DELIVERY = prepared(
  'webhooks-delivery-put-off',
  `with next as (
     select clock_timestamp() + make_interval(secs => case when w.version = $9::bigint then $4::float8 / 1000 else 0 end) as at
     from webhooks w where w.id = $1
   ), queue as (
     update webhook_lanes l set due_at = next.at from next
     where l.webhook_id = $1 and l.stream = $2 and l.lease_version = $3::bigint returning l.webhook_id, next.at
   )
   update webhook_deliveries d set attempts = d.attempts + 1, response_status = $6::int, error = $7, duration_ms = $8::int,
     next_attempt_at = queue.at, last_attempt_at = clock_timestamp()
   from queue where d.webhook_id = queue.webhook_id and d.event_id = $5 and d.status = 'pending' returning d.event_id`,
);

/** The log is kept 30 days. Deletes a bounded batch; SKIP LOCKED skips the batch of another worker. */
export const PRUNE_WEBHOOK_DELIVERIES = prepared(
  'webhooks-deliveries-prune',
  `delete from webhook_deliveries where ctid = any(array(
     select ctid from webhook_deliveries where completed_at < now() - interval '30 days' order by completed_at limit 5000 for update skip locked))`,
);
