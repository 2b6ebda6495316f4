import { ArrayField, IntField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

export class PublicationBindingDto {
  @StringField({ min: 1, max: 255 })
  binding_id: string;

  @IntField({ min: 0, max: 1000, default: 1, description: 'Share among the bindings of the same priority; 0 = dark.' })
  weight: number;

  @IntField({
    min: 0,
    max: 1000,
    default: 0,
    description: 'Lower is preferred; a higher one serves while no binding below it can.',
  })
  priority: number;
}

export class AudienceDto {
  @StringField({
    enum: ['tenant', 'shared'],
    default: 'tenant',
    description:
      '`tenant`: the publishing tenant and those listed; `shared`: every tenant, for the operator tenant alone.',
  })
  visibility: 'tenant' | 'shared';

  @ArrayField('string', {
    maxItems: 1000,
    unique: true,
    item: { min: 1, max: 64 },
    default: [],
    description: 'Ids of further tenants; only with visibility `tenant`, and for the operator tenant alone.',
  })
  tenants: string[];
}

export class CreatePublicationDto {
  @StringField({ min: 1, max: 255 })
  product_id: string;

  @ArrayField(() => PublicationBindingDto, { minItems: 1, maxItems: 32 })
  bindings: PublicationBindingDto[];

  @ObjectField(() => AudienceDto, { optional: true, description: 'The publishing tenant alone unless given.' })
  audience?: AudienceDto;

  @StringField({ max: 2000, optional: true })
  notes?: string;
}

export class PublicationDto {
  @StringField({ example: 'pub_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;

  @StringField()
  product_id: string;

  @StringField({ example: 'acme/chat' })
  slug: string;

  @IntField({ min: 1 })
  version: number;

  @StringField({ enum: ['published', 'superseded', 'withdrawn'] })
  state: string;

  @ArrayField(() => PublicationBindingDto)
  bindings: PublicationBindingDto[];

  @ObjectField(() => AudienceDto)
  audience: AudienceDto;

  @StringField({ nullable: true })
  notes: string | null;

  @TimestampField()
  created_at: string;

  @TimestampField({ nullable: true, description: 'When it was superseded or withdrawn' })
  ended_at: string | null;
}

export class PublicationPageDto {
  @ArrayField(() => PublicationDto)
  data: PublicationDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
