import { ArrayField, IntField, NumberField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));
const MODALITIES = ['text', 'image', 'audio', 'video', 'embedding', 'file'] as const;
const MAX_TOKENS = 2_000_000_000;
const MAX_PRICE = 1_000_000_000;

export class PricingDto {
  @StringField({
    min: 3,
    max: 3,
    pattern: /^[A-Z]{3}$/,
    example: 'USD',
    description: 'ISO 4217 currency code',
    check: (code) => (CURRENCIES.has(code) ? undefined : 'must be an ISO 4217 currency code'),
  })
  currency: string;

  @NumberField({ min: 0, max: MAX_PRICE, description: 'Price of a million input tokens' })
  input_per_mtok: number;

  @NumberField({ min: 0, max: MAX_PRICE, description: 'Price of a million output tokens' })
  output_per_mtok: number;
}

export class CreateProductDto {
  @StringField({
    min: 3,
    max: 190,
    pattern: /^[a-z0-9][a-z0-9._-]{0,62}\/[a-z0-9][a-z0-9._-]{0,126}$/,
    example: 'acme/chat',
    description:
      '`vendor/model`, which clients send as `model`. The vendor must be the name of the tenant; the operator tenant can use any vendor.',
  })
  slug: string;

  @StringField({ min: 1, max: 255, optional: true, description: 'Defaults to the slug.' })
  display_name?: string;

  @StringField({ max: 4000, optional: true })
  description?: string;

  @ArrayField('string', { maxItems: 16, unique: true, item: { enum: MODALITIES }, default: ['text'] })
  modalities: string[];

  @IntField({ min: 1, max: MAX_TOKENS, optional: true })
  context_length?: number;

  @IntField({ min: 1, max: MAX_TOKENS, optional: true })
  max_output_tokens?: number;

  @ArrayField('string', {
    maxItems: 128,
    unique: true,
    item: { min: 1, max: 64, pattern: /^[a-z][a-z0-9_]*$/ },
    default: [],
    example: ['temperature', 'tools'],
  })
  supported_parameters: string[];

  @ObjectField(() => PricingDto, { optional: true })
  pricing?: PricingDto;
}

export class ProductDto {
  @StringField({ example: 'prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;

  @StringField()
  slug: string;

  @StringField()
  display_name: string;

  @StringField({ nullable: true })
  description: string | null;

  @ArrayField('string')
  modalities: string[];

  @IntField({ nullable: true })
  context_length: number | null;

  @IntField({ nullable: true })
  max_output_tokens: number | null;

  @ArrayField('string')
  supported_parameters: string[];

  @ObjectField(() => PricingDto, { nullable: true })
  pricing: PricingDto | null;

  @StringField({ enum: ['draft', 'active', 'deprecated', 'retired'] })
  state: string;

  @TimestampField()
  created_at: string;

  @TimestampField()
  updated_at: string;
}

export class ProductPageDto {
  @ArrayField(() => ProductDto)
  data: ProductDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
