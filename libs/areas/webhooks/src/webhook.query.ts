import { prepared } from '@slipway/platform-database';

/**
 * A new webhook begins after every event that is committed now. An event that commits later has a later sequence, and a
 * stream that appears later has no queue yet, which counts as 0: the webhook misses nothing after its creation. One
 * statement for all streams of the tenant, however many there are.
 */
export const INSERT_DELIVERY_QUEUES = prepared(
  'webhooks-queues-insert',
  `insert into webhook_lanes (webhook_id, stream, tenant_id, sequence)
   select $1, s.stream, s.tenant_id, s.last_sequence from event_streams s where s.tenant_id = $2`,
);

/** One statement, so that the audit shows the row as it was deleted: a sender may disable it in the meantime. */
export const DELETE_WEBHOOK = prepared(
  'webhooks-delete',
  `delete from webhooks where tenant_id = $1 and id = $2
   returning id, url, description, event_types, deployments, state, disabled_reason, created_by,
     slipway_rfc3339(created_at) as created_at, slipway_rfc3339(disabled_at) as disabled_at`,
);
