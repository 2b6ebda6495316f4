import { DATA_URLS_ONLY } from '@slipway/contracts';
import { ArrayField, BooleanField, IntField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';
import { MediaUrlsDto } from '@slipway/ports/deployment-records';

const PUBLICATION_STATES = ['published', 'superseded', 'withdrawn'] as const;

export class PublicationBindingDto {
  @StringField({ min: 1, max: 255 })
  binding_id: string;

  @IntField({
    min: 0,
    max: 1000,
    default: 1,
    description: 'Share among the bindings of the same priority; a binding with weight 0 gets no requests.',
  })
  weight: number;

  @IntField({
    min: 0,
    max: 1000,
    default: 0,
    description:
      'Lower values are preferred. Bindings with a higher value serve only while none with a lower value can.',
  })
  priority: number;
}

export class AudienceDto {
  @StringField({
    enum: ['tenant', 'shared'],
    default: 'tenant',
    description:
      '`tenant`: the publishing tenant and the listed ones; `shared`: every tenant. Only the operator tenant can use `shared`.',
  })
  visibility: 'tenant' | 'shared';

  @ArrayField('string', {
    maxItems: 1000,
    unique: true,
    item: { min: 1, max: 64 },
    default: [],
    description:
      'Ids of additional tenants; only with visibility `tenant`. Only the operator tenant can list other tenants.',
  })
  tenants: string[];
}

export class CreatePublicationDto {
  @StringField({ min: 1, max: 255 })
  product_id: string;

  @ArrayField(() => PublicationBindingDto, { minItems: 1, maxItems: 32 })
  bindings: PublicationBindingDto[];

  @ObjectField(() => AudienceDto, { optional: true, description: 'Defaults to the publishing tenant alone.' })
  audience?: AudienceDto;

  @ObjectField(() => MediaUrlsDto, {
    default: DATA_URLS_ONLY,
    description:
      'Which URLs of media (`image_url`, `input_audio`, `file` and their like) its requests may name. The gateways refuse others with 400 `media_url_refused`. A deployment that a binding leads to keeps its own rule in addition.',
  })
  media_urls?: MediaUrlsDto;

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

  @StringField({ enum: PUBLICATION_STATES })
  state: string;

  @ArrayField(() => PublicationBindingDto)
  bindings: PublicationBindingDto[];

  @ObjectField(() => AudienceDto)
  audience: AudienceDto;

  @ObjectField(() => MediaUrlsDto, { description: 'Which URLs of media its requests may name' })
  media_urls: MediaUrlsDto;

  @BooleanField({
    description:
      'Whether its tenants share a prefix cache that `cache_salt` does not divide: it has several tenants, and a binding with a weight leads to a supplier or to an engine without `cache_salt`. Determined when it is published; true for publications of several tenants from previous releases.',
  })
  shares_prefix_cache: boolean;

  @StringField({ nullable: true })
  notes: string | null;

  @TimestampField()
  created_at: string;

  @TimestampField({ nullable: true, description: 'Time at which it was superseded or withdrawn' })
  ended_at: string | null;
}

export class PublicationPageDto {
  @ArrayField(() => PublicationDto)
  data: PublicationDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class PublicationFilterDto {
  @StringField({ enum: PUBLICATION_STATES, optional: true, description: 'Only publications in this state' })
  state?: (typeof PUBLICATION_STATES)[number];

  @StringField({ min: 1, max: 255, optional: true, description: 'Only publications of the product with this id' })
  product_id?: string;
}
