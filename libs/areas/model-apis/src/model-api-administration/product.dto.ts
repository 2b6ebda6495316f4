import { ArrayField, IntField, NumberField, ObjectField, StringField, TimestampField } from '@slipway/platform-http';

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));
const MODALITIES = ['text', 'image', 'audio', 'video', 'embedding', 'file'] as const;
const MAX_TOKENS = 2_000_000_000;
const MAX_PRICE = 1_000_000_000;

const PRODUCT_STATES = ['draft', 'active', 'deprecated', 'retired'] as const;

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

const DISPLAY_NAME = { min: 1, max: 255, description: 'Defaults to the slug.' };
const DESCRIPTION = { max: 4000 };
const MODALITY_LIST = { maxItems: 16, unique: true, item: { enum: MODALITIES } };
const TOKENS = { min: 1, max: MAX_TOKENS };
const PARAMETER_LIST = {
  maxItems: 128,
  unique: true,
  item: { min: 1, max: 64, pattern: /^[a-z][a-z0-9_]*$/ },
  example: ['temperature', 'tools'],
};

/** Everything of a product that can change. */
export class ProductSettingsDto {
  @StringField({ ...DISPLAY_NAME, optional: true })
  display_name?: string;

  @StringField({ ...DESCRIPTION, optional: true })
  description?: string;

  @ArrayField('string', { ...MODALITY_LIST, default: ['text'] })
  modalities: string[];

  @IntField({ ...TOKENS, optional: true })
  context_length?: number;

  @IntField({ ...TOKENS, optional: true })
  max_output_tokens?: number;

  @ArrayField('string', { ...PARAMETER_LIST, default: [] })
  supported_parameters: string[];

  @ObjectField(() => PricingDto, { optional: true })
  pricing?: PricingDto;
}

export class CreateProductDto extends ProductSettingsDto {
  @StringField({
    min: 3,
    max: 190,
    pattern: /^[a-z0-9][a-z0-9._-]{0,62}\/[a-z0-9][a-z0-9._-]{0,126}$/,
    example: 'acme/chat',
    description:
      '`vendor/model`, which clients send as `model`. The vendor must be the name of the tenant; the operator tenant can use any vendor.',
  })
  slug: string;
}

export class PricingPatchDto {
  @StringField({ max: 3, removable: true })
  currency?: string | null;

  @NumberField({ min: 0, max: MAX_PRICE, removable: true })
  input_per_mtok?: number | null;

  @NumberField({ min: 0, max: MAX_PRICE, removable: true })
  output_per_mtok?: number | null;
}

/** A merge patch of `ProductSettingsDto`. The merged result is validated as a whole. */
export class UpdateProductDto {
  @StringField({ max: 190, removable: true, description: 'Cannot change, because clients send it as `model`' })
  slug?: string | null;

  @StringField({ ...DISPLAY_NAME, removable: true })
  display_name?: string | null;

  @StringField({ ...DESCRIPTION, removable: true })
  description?: string | null;

  @ArrayField('string', { ...MODALITY_LIST, removable: true })
  modalities?: string[] | null;

  @IntField({ ...TOKENS, removable: true })
  context_length?: number | null;

  @IntField({ ...TOKENS, removable: true })
  max_output_tokens?: number | null;

  @ArrayField('string', { ...PARAMETER_LIST, removable: true })
  supported_parameters?: string[] | null;

  @ObjectField(() => PricingPatchDto, { removable: true })
  pricing?: PricingPatchDto | null;
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

  @StringField({ enum: PRODUCT_STATES })
  state: string;

  @TimestampField()
  created_at: string;

  @TimestampField()
  updated_at: string;

  @StringField({ description: 'Changes with everything above. Send it as If-Match with a change.' })
  etag: string;
}

export class DeletedProductDto {
  @StringField()
  id: string;

  @StringField({ enum: ['deleted'] })
  state: string;
}

export class ProductPageDto {
  @ArrayField(() => ProductDto)
  data: ProductDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}

export class ProductFilterDto {
  @StringField({ enum: PRODUCT_STATES, optional: true, description: 'Only products in this state' })
  state?: (typeof PRODUCT_STATES)[number];

  @StringField({
    min: 1,
    max: 200,
    optional: true,
    description: 'Text in the slug or the display name, in upper or lower case',
  })
  q?: string;
}
