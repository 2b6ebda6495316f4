import { ArrayField, IntField, StringField, TimestampField } from '@slipway/platform-http';

const TYPE_PATTERN = /^[a-z][a-z0-9_]*\.([a-z][a-z0-9_]*|\*)$/;

export class CreateWebhookDto {
  @StringField({
    min: 1,
    max: 2048,
    example: 'https://hooks.example.com/slipway',
    description:
      'https URL with a public address, or a URL that the operator allows for webhooks. Redirects are not followed.',
  })
  url: string;

  @ArrayField('string', {
    default: [],
    maxItems: 64,
    unique: true,
    item: { max: 128, pattern: TYPE_PATTERN },
    example: ['rollout.*', 'route.updated'],
    description: 'Types of events to send: exact types, or all of a kind such as `rollout.*`. Empty means all.',
  })
  event_types: string[];

  @ArrayField('string', {
    default: [],
    maxItems: 100,
    unique: true,
    item: { min: 1, max: 63 },
    example: ['chat'],
    description: 'Deployments whose events are sent. Empty means all events of the tenant.',
  })
  deployments: string[];

  @StringField({ max: 2000, optional: true, nullable: true, description: 'Free text' })
  description?: string | null;
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

  @StringField({ enum: ['active', 'disabled'] })
  state: string;

  @StringField({ nullable: true, enum: ['gone'], description: '`gone`: the receiver returned 410.' })
  disabled_reason: string | null;

  @StringField({ description: 'Type and id of the actor that created it.', example: 'token:tok_boot' })
  created_by: string;

  @TimestampField()
  created_at: string;

  @TimestampField({ nullable: true })
  disabled_at: string | null;
}

export class CreatedWebhookDto extends WebhookDto {
  @StringField({
    description: 'Key that signs every request (standard-webhooks, HMAC-SHA256). Shown once.',
    example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  })
  secret: string;
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

export class WebhookDeliveryDto {
  @StringField({ description: 'Id of the event; also the `webhook-id` header of every attempt.' })
  event_id: string;

  @StringField({ example: 'rollout.promoted' })
  event_type: string;

  @StringField({
    enum: ['pending', 'succeeded', 'failed', 'cancelled'],
    description: '`cancelled`: the webhook was disabled before the event was sent.',
  })
  status: string;

  @IntField({ description: 'Number of attempts that have ended.' })
  attempts: number;

  @IntField({ nullable: true, description: 'HTTP status of the last attempt; null if no response came.' })
  response_status: number | null;

  @StringField({
    nullable: true,
    enum: ['http_status', 'redirect', 'timeout', 'connection_failed', 'address_refused', 'event_expired'],
    description: 'Reason why the last attempt failed.',
  })
  error: string | null;

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
