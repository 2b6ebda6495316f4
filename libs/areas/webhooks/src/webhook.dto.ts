import { EVENT_TYPES, patternsOf } from '@slipway/contracts';
import { ArrayField, IntField, StringField, TimestampField } from '@slipway/platform-http';
import { DELIVERY_ERRORS } from './delivery/delivery-request.js';

const TYPE_PATTERNS = patternsOf(Object.keys(EVENT_TYPES));

const URL_RULES = {
  min: 1,
  max: 2048,
  example: 'https://hooks.example.com/slipway',
  description:
    'https URL with a public address, or a URL that the operator allows for webhooks. Redirects are not followed.',
};
const SENT_TYPES = {
  maxItems: 64,
  unique: true,
  item: { enum: TYPE_PATTERNS },
  example: ['rollout.*', 'route.updated'],
  description: 'Types of events to send: exact types, or all of a kind such as `rollout.*`. Empty means all.',
};
const DEPLOYMENTS = {
  maxItems: 100,
  unique: true,
  item: { min: 1, max: 63 },
  example: ['chat'],
  description: 'Deployments whose events are sent. Empty means all events of the tenant.',
};
const DESCRIPTION = { max: 2000, description: 'Free text' };
const STATES = ['active', 'disabled'] as const;

export class CreateWebhookDto {
  @StringField(URL_RULES)
  url: string;

  @ArrayField('string', { ...SENT_TYPES, default: [] })
  event_types: string[];

  @ArrayField('string', { ...DEPLOYMENTS, default: [] })
  deployments: string[];

  @StringField({ ...DESCRIPTION, optional: true, nullable: true })
  description?: string | null;
}

/** A merge patch: given fields change, and null resets a field to its default. */
export class UpdateWebhookDto {
  @StringField({ ...URL_RULES, removable: true })
  url?: string | null;

  @ArrayField('string', { ...SENT_TYPES, removable: true })
  event_types?: string[] | null;

  @ArrayField('string', { ...DEPLOYMENTS, removable: true })
  deployments?: string[] | null;

  @StringField({ ...DESCRIPTION, removable: true })
  description?: string | null;

  @StringField({
    enum: STATES,
    removable: true,
    description:
      '`disabled` cancels the pending deliveries, and nothing more is sent. `active` begins again with the next event.',
  })
  state?: (typeof STATES)[number] | null;
}

export class RotateWebhookSecretDto {
  @IntField({
    min: 0,
    max: 604_800,
    default: 86_400,
    description: 'How long requests also carry a signature of the previous secret. 0 ends it at once.',
  })
  overlap_seconds: number;
}

export class WebhookDto {
  @StringField()
  id: string;

  @StringField()
  url: string;

  @StringField({ nullable: true })
  description: string | null;

  @ArrayField('string')
  event_types: string[];

  @ArrayField('string')
  deployments: string[];

  @StringField({ enum: STATES })
  state: string;

  @StringField({
    nullable: true,
    enum: ['gone', 'requested'],
    description: '`gone`: the receiver returned 410. `requested`: by a change of the webhook.',
  })
  disabled_reason: string | null;

  @TimestampField({
    nullable: true,
    description: 'The receiver returned 429 or 503 with `Retry-After`: nothing is sent to it before this time.',
  })
  paused_until: string | null;

  @TimestampField({
    nullable: true,
    description: 'After a rotation: until this time requests also carry a signature of the previous secret.',
  })
  previous_secret_until: string | null;

  @StringField({ description: 'Changes with every change of the webhook; send it as `If-Match`.' })
  etag: string;

  @StringField({ description: 'Type and id of the actor that created it.', example: 'token:tok_boot' })
  created_by: string;

  @TimestampField()
  created_at: string;

  @TimestampField({ nullable: true })
  disabled_at: string | null;
}

export class CreatedWebhookDto extends WebhookDto {
  @StringField({
    nullable: true,
    description:
      'Key that signs every request (standard-webhooks, HMAC-SHA256). Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  secret: string | null;
}

export class RotatedWebhookDto extends WebhookDto {
  @StringField({
    nullable: true,
    description:
      'The new key. Shown once: null if the response repeats that of an earlier request with the same Idempotency-Key.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  secret: string | null;
}

export class DeletedWebhookDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;
}

export class WebhookListDto {
  @ArrayField(() => WebhookDto)
  data: WebhookDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export const DELIVERY_STATUSES = ['pending', 'succeeded', 'failed', 'cancelled', 'skipped'] as const;

export class DeliveryFilterDto {
  @StringField({ enum: DELIVERY_STATUSES, optional: true, description: 'Only deliveries with this status' })
  status?: (typeof DELIVERY_STATUSES)[number];

  @StringField({
    enum: TYPE_PATTERNS,
    optional: true,
    description: 'Only deliveries of events of this type, or of a kind such as `rollout.*`',
  })
  event_type?: string;
}

export class SendWebhookEventDto {
  @StringField({ min: 1, max: 63, example: 'chat', description: 'Deployment whose event is sent' })
  deployment: string;

  @IntField({ min: 1, description: '`sequence` of the event' })
  sequence: number;
}

export class WebhookDeliveryDto {
  @StringField({ description: 'Id of the event; also the `webhook-id` header of every attempt.' })
  event_id: string;

  @StringField({ example: 'rollout.promoted', description: '`webhook.test` is a test.' })
  event_type: string;

  @StringField({
    enum: DELIVERY_STATUSES,
    description:
      '`cancelled`: the webhook was disabled before the event was sent. `skipped`: by a request; later events follow.',
  })
  status: string;

  @IntField({ description: 'Number of attempts that have ended.' })
  attempts: number;

  @IntField({ nullable: true, description: 'HTTP status of the last attempt; null if no response came.' })
  response_status: number | null;

  @StringField({
    nullable: true,
    enum: DELIVERY_ERRORS,
    description:
      'Reason why the last attempt failed. `response_cut` does not make it fail: the event was accepted, but the response did not end within 10 s, or broke off.',
  })
  error: string | null;

  @IntField({ nullable: true, description: 'Milliseconds that the last attempt took, with the whole response.' })
  duration_ms: number | null;

  @TimestampField({ nullable: true })
  next_attempt_at: string | null;

  @TimestampField({ nullable: true })
  last_attempt_at: string | null;

  @TimestampField()
  created_at: string;

  @TimestampField({ nullable: true })
  completed_at: string | null;
}

export class WebhookDeliveryListDto {
  @ArrayField(() => WebhookDeliveryDto)
  data: WebhookDeliveryDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class WebhookFilterDto {
  @StringField({ enum: STATES, optional: true, description: 'Only webhooks in this state' })
  state?: (typeof STATES)[number];
}
