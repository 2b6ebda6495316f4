import { ArrayField, IntField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

export const PASSPORT_STATES = ['active', 'expired', 'revoked'] as const;
export type PassportState = (typeof PASSPORT_STATES)[number];
const SOURCES = ['x-session-id', 'session_id', 'prompt_cache_key', 'user', 'declared'] as const;
const REBIND_REASONS = ['target_unhealthy', 'revision_retired', 'weights_changed', 'ttl_expired', 'capacity'] as const;

export class PassportAffinityRequestDto {
  @StringField({
    enum: ['none', 'soft'],
    optional: true,
    description: 'Defaults to the mode of the route, or to `soft` without a route.',
  })
  mode?: 'none' | 'soft';

  @IntField({
    min: 1,
    max: 86_400,
    optional: true,
    description: 'Seconds. Defaults to the TTL of the route, or to 600 without a route.',
  })
  ttl_seconds?: number;
}

export class CreatePassportDto {
  @StringField({
    min: 1,
    max: 190,
    example: 'chat',
    description:
      'Value that requests of the session send as `model`: the name of a deployment, or the slug of a model API.',
  })
  deployment: string;

  @StringField({
    min: 1,
    max: 1024,
    description: 'The key that requests of the session carry. Only a keyed hash of it is stored.',
  })
  session_id: string;

  @StringField({ min: 1, max: 255, optional: true, description: 'Owner of the session, as free text.' })
  subject?: string;

  @ObjectField(() => PassportAffinityRequestDto, {
    optional: true,
    description: 'Applies until the first request; after that, the affinity of the route applies.',
  })
  affinity?: PassportAffinityRequestDto;
}

export class PassportSessionDto {
  @StringField({ description: 'Keyed hash of the session key; the key itself is not stored' })
  key_hash: string;

  @StringField({ enum: SOURCES, description: 'Source of the session key' })
  source: string;
}

export class PassportAffinityDto {
  @StringField({ enum: ['best_effort'] })
  guarantee: 'best_effort';

  @StringField({ enum: ['none', 'soft'] })
  mode: string;

  @StringField({ description: 'Value that requests of the session send as `model`' })
  deployment: string;

  @StringField({
    nullable: true,
    description: 'Name of the revision it is bound to; null before the first request and for a model API',
  })
  revision: string | null;

  @StringField({ nullable: true, description: 'Opaque id of the destination; it changes when the session moves' })
  target: string | null;

  @TimestampField({ nullable: true })
  bound_at: string | null;

  @IntField()
  ttl_seconds: number;
}

export class PassportStatsDto {
  @IntField({ min: 0 })
  requests: number;

  @IntField({ min: 0 })
  hits: number;

  @IntField({ min: 0 })
  misses: number;

  @IntField({ min: 0 })
  rebinds: number;

  @StringField({ enum: REBIND_REASONS, nullable: true })
  last_rebind_reason: string | null;
}

export class PassportDto {
  @StringField({ example: 'cp_6f1ed002ab5595859014ebf0951522d9' })
  id: string;

  @StringField({ enum: PASSPORT_STATES })
  state: string;

  @ObjectField(() => PassportSessionDto)
  session: PassportSessionDto;

  @StringField({ nullable: true, description: 'Declared subject, or the token that the session used last' })
  subject: string | null;

  @TimestampField()
  created_at: string;

  @TimestampField()
  last_seen_at: string;

  @TimestampField()
  expires_at: string;

  @ObjectField(() => PassportAffinityDto)
  affinity: PassportAffinityDto;

  @ObjectField(() => PassportStatsDto)
  stats: PassportStatsDto;
}

export class PassportFilterDto {
  @StringField({
    min: 1,
    max: 255,
    optional: true,
    description: 'Only sessions of this deployment or model API, by the name or slug that their requests send',
  })
  deployment?: string;

  @StringField({ enum: PASSPORT_STATES, optional: true, description: 'Only passports in this state' })
  state?: PassportState;
}

export class PassportPageDto {
  @ArrayField(() => PassportDto)
  data: PassportDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class DeletedPassportDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;
}
