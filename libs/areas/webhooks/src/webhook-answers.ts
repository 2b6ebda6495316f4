import { etagOf } from '@slipway/platform-http';
import type { DeliveryEntity } from './delivery/delivery.entity.js';
import type { WebhookDeliveryDto, WebhookDto } from './webhook.dto.js';
import type { WebhookEntity } from './webhook.entity.js';

/** Returns the fields of a webhook that answers and audits show: nothing of its secrets. */
export function shown(webhook: WebhookEntity): WebhookDto {
  const fields = {
    id: webhook.id,
    url: webhook.url,
    description: webhook.description,
    event_types: webhook.event_types,
    deployments: webhook.deployments,
    state: webhook.state,
    disabled_reason: webhook.disabled_reason,
    paused_until: ifLater(webhook.paused_until),
    previous_secret_until: ifLater(webhook.previous_secret_until),
    created_by: webhook.created_by,
    created_at: webhook.created_at,
    disabled_at: webhook.disabled_at,
  };
  // A rotation that replaces one within the same overlap changes no field.
  return { ...fields, etag: etagOf(JSON.stringify(fields), webhook.version) };
}

/** A time that has passed means nothing any more, whether or not the row was already cleaned. */
function ifLater(time: string | null): string | null {
  return time !== null && Date.parse(time) > Date.now() ? time : null;
}

export const SHOWN_OF_A_DELIVERY = {
  event_id: true,
  event_type: true,
  status: true,
  attempts: true,
  response_status: true,
  error: true,
  duration_ms: true,
  next_attempt_at: true,
  last_attempt_at: true,
  created_at: true,
  completed_at: true,
} as const satisfies Record<keyof WebhookDeliveryDto, true>;

export type ShownDelivery = Pick<DeliveryEntity, keyof typeof SHOWN_OF_A_DELIVERY>;
