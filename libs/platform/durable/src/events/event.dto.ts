import { EVENT_TYPES, namesOf, patternsOf } from '@slipway/contracts';
import { ArrayField, IntField, JsonField, StringField, TimestampField } from '@slipway/platform-http';

const TYPES = Object.keys(EVENT_TYPES);

/** A CloudEvent. The store builds it as JSON text in SQL; this class publishes its shape. */
export class EventDto {
  @StringField({ enum: ['1.0'] })
  specversion: string;

  @StringField()
  id: string;

  @StringField({ example: '/api/v1/deployments' })
  source: string;

  @StringField({ example: 'route.updated' })
  type: string;

  @StringField({ example: 'deployments/chat' })
  subject: string;

  @TimestampField()
  time: string;

  @StringField({ enum: ['application/json'] })
  datacontenttype: string;

  @IntField({ min: 1, description: 'Position in the event stream of the resource, in commit order and without gaps' })
  sequence: number;

  @StringField({ example: 'token:tok_1' })
  actor: string;

  @StringField({ nullable: true })
  operationid: string | null;

  @StringField({ nullable: true })
  revisionid: string | null;

  @JsonField({
    description:
      'At most 64 KiB. If there is more to report, the largest fields are left out and `omitted` lists their names; read the resource for them.',
  })
  data: Record<string, unknown>;
}

export class EventPageDto {
  @ArrayField(() => EventDto)
  data: EventDto[];

  @StringField({ nullable: true, description: 'Send it as `cursor` to get the next page; null on the last page' })
  next_cursor: string | null;
}

export const EVENT_ORDERS = ['asc', 'desc'] as const;

export class EventQueryDto {
  @IntField({
    min: 0,
    optional: true,
    description: 'Only events that follow this sequence in the requested order; a stream starts after it',
  })
  after?: number;

  @StringField({
    enum: patternsOf(TYPES),
    optional: true,
    description: 'Only events of this type, or of all types that begin with `rollout.` for `rollout.*`',
  })
  type?: string;

  @StringField({ enum: EVENT_ORDERS, default: 'desc', description: 'A stream is always ascending' })
  order: 'asc' | 'desc';
}

/** Returns the types that a query selects; undefined for all. */
export function typesOf({ type }: Pick<EventQueryDto, 'type'>): string[] | undefined {
  return type === undefined ? undefined : namesOf(type, TYPES);
}
