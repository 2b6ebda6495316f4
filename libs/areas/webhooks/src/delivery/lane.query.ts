import { prepared } from '@slipway/platform-database';

/*
 * A lane (one stream towards one webhook) is leased as a whole, so that its deliveries leave in order and no two workers send
 * one at once. The lease is `due_at` itself: whoever takes the lane moves it into the future, and a killed worker's lane is due
 * again by itself. `lease_version` fences: a sender that was paused beyond its lease finds that its writes change nothing.
 */

export interface LaneRow {
  webhook_id: string;
  stream: string;
  tenant_id: string;
  lease_version: string;
  url: string;
  sealed_secret: string;
}

const IN = (parameter: string) => `clock_timestamp() + make_interval(secs => ${parameter}::float8 / 1000)`;

/** The lane that has been due longest, except those of webhooks that already take their share of this process. */
export const CLAIM_LANE = prepared(
  'webhook-lane-claim',
  `with due as (
     select webhook_id, stream from webhook_lanes where due_at <= clock_timestamp() and not (webhook_id = any($2::text[]))
     order by due_at limit 1 for update skip locked
   )
   update webhook_lanes l set due_at = ${IN('$1')}, lease_version = l.lease_version + 1
   from due, webhooks w where l.webhook_id = due.webhook_id and l.stream = due.stream and w.id = l.webhook_id
   returning l.webhook_id, l.stream, l.tenant_id, l.lease_version::text, w.url, w.sealed_secret`,
);

export interface PendingRow {
  event_id: string;
  sequence: string;
  attempts: number;
}

/** Ordered by the column, which the answer shows as text: `order by sequence` alone would mean the text. */
export const PENDING = prepared(
  'webhook-lane-pending',
  `select d.event_id, d.sequence::text as sequence, d.attempts from webhook_deliveries d
   where d.webhook_id = $1 and d.stream = $2 and d.status = 'pending' order by d.sequence limit 20`,
);

/** $1 webhook, $2 stream, $3 lease version, $4 the lane's next due time from now. */
const HELD_LANE = `update webhook_lanes set due_at = ${IN('$4')} where webhook_id = $1 and stream = $2 and lease_version = $3::bigint returning webhook_id`;

/** Ends one delivery and renews the lease; no row if the lease was lost. */
export const END_DELIVERY = prepared(
  'webhook-delivery-end',
  `with lane as (${HELD_LANE})
   update webhook_deliveries d set status = $6, attempts = d.attempts + $7::int, response_status = $8::int, error = $9,
     next_attempt_at = null, last_attempt_at = clock_timestamp(), completed_at = clock_timestamp()
   from lane where d.webhook_id = lane.webhook_id and d.event_id = $5 and d.status = 'pending' returning d.event_id`,
);

/** Puts the head of a lane, and with it the lane, off; no row if the lease was lost. */
export const PUT_OFF = prepared(
  'webhook-delivery-put-off',
  `with lane as (${HELD_LANE})
   update webhook_deliveries d set attempts = d.attempts + 1, response_status = $6::int, error = $7,
     next_attempt_at = ${IN('$4')}, last_attempt_at = clock_timestamp()
   from lane where d.webhook_id = lane.webhook_id and d.event_id = $5 and d.status = 'pending' returning d.event_id`,
);

/* Giving a lane back: the lock first, so that the look at what is pending sees everything a fan-out has added meanwhile. */
export const LOCK_LANE = prepared(
  'webhook-lane-lock',
  `select 1 from webhook_lanes where webhook_id = $1 and stream = $2 and lease_version = $3::bigint for update`,
);

export const RELEASE_LANE = prepared(
  'webhook-lane-release',
  `update webhook_lanes set due_at = (select now() from webhook_deliveries where webhook_id = $1 and stream = $2 and status = 'pending' limit 1)
   where webhook_id = $1 and stream = $2`,
);

/* The receiver is gone: webhook, then its lanes (which fences every sender), then its deliveries. */
export const DISABLE_WEBHOOK = prepared(
  'webhook-disable',
  `update webhooks set state = 'disabled', disabled_reason = 'gone', disabled_at = now() where id = $1 and state = 'active' returning id, url`,
);

export const CLOSE_LANES = prepared(
  'webhook-lanes-close',
  `update webhook_lanes set due_at = null, lease_version = lease_version + 1 where webhook_id = $1 and due_at is not null`,
);

export const FAIL_GONE = prepared(
  'webhook-delivery-gone',
  `update webhook_deliveries set status = 'failed', attempts = attempts + 1, response_status = 410, error = 'http_status',
     next_attempt_at = null, last_attempt_at = now(), completed_at = now()
   where webhook_id = $1 and event_id = $2 and status = 'pending'`,
);

export const CANCEL_DELIVERIES = prepared(
  'webhook-deliveries-cancel',
  `update webhook_deliveries set status = 'cancelled', next_attempt_at = null, completed_at = now() where webhook_id = $1 and status = 'pending'`,
);

/** The log is kept 30 days. A bounded bite at a time; another worker's bite is skipped. */
export const PRUNE_DELIVERIES = prepared(
  'webhook-deliveries-prune',
  `delete from webhook_deliveries where ctid in (
     select ctid from webhook_deliveries where completed_at < now() - interval '30 days' order by completed_at limit 5000 for update skip locked)`,
);
