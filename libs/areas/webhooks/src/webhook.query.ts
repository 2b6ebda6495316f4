import { prepared } from '@slipway/platform-database';

export interface WebhookRow {
  id: string;
  url: string;
  description: string | null;
  event_types: string[];
  deployments: string[];
  state: string;
  disabled_reason: string | null;
  created_by: string;
  created_at: string;
  disabled_at: string | null;
}

export interface DeliveryRow {
  event_id: string;
  event_type: string;
  status: string;
  attempts: number;
  response_status: number | null;
  error: string | null;
  next_attempt_at: string | null;
  last_attempt_at: string | null;
  created_at: string;
  completed_at: string | null;
}

const COLUMNS = `id, url, description, event_types, deployments, state, disabled_reason, created_by,
  slipway_rfc3339(created_at) as created_at, slipway_rfc3339(disabled_at) as disabled_at`;

/** Counts no further than the limit, so that its cost does not grow. */
export const COUNT_WEBHOOKS = prepared(
  'webhook-count',
  `select count(*)::int as count from (select 1 from webhooks where tenant_id = $1 limit $2) counted`,
);

export const INSERT_WEBHOOK = prepared(
  'webhook-insert',
  `insert into webhooks (id, tenant_id, url, description, event_types, deployments, streams, sealed_secret, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning ${COLUMNS}`,
);

/**
 * Where a new webhook begins: behind everything that is committed now. An event that commits later has a sequence beyond
 * these, and a stream that appears later has no lane yet, which counts as 0: nothing after the creation is missed.
 */
export const INSERT_LANES = prepared(
  'webhook-lanes-insert',
  `insert into webhook_lanes (webhook_id, stream, tenant_id, sequence)
   select $1, s.stream, s.tenant_id, s.last_sequence from event_streams s where s.tenant_id = $2`,
);

export const LIST_WEBHOOKS = prepared(
  'webhook-list',
  `select ${COLUMNS} from webhooks where tenant_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
);

export const DELETE_WEBHOOK = prepared(
  'webhook-delete',
  `delete from webhooks where tenant_id = $1 and id = $2 returning ${COLUMNS}`,
);

export const WEBHOOK_EXISTS = prepared('webhook-exists', `select 1 from webhooks where tenant_id = $1 and id = $2`);

export const LIST_DELIVERIES = prepared(
  'webhook-delivery-list',
  `select event_id, event_type, status, attempts, response_status, error, slipway_rfc3339(next_attempt_at) as next_attempt_at,
     slipway_rfc3339(last_attempt_at) as last_attempt_at, slipway_rfc3339(created_at) as created_at, slipway_rfc3339(completed_at) as completed_at
   from webhook_deliveries where tenant_id = $1 and webhook_id = $2 and ($3::text is null or event_id < $3) order by event_id desc limit $4`,
);
