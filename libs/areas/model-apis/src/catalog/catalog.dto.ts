import { ArrayField, BooleanField, IntField, NumberField, ObjectField, StringField } from '@slipway/platform-http';

export class CatalogPricingDto {
  @StringField({ example: 'USD' })
  currency: string;

  @NumberField()
  input_per_mtok: number;

  @NumberField()
  output_per_mtok: number;
}

export class LatencyDto {
  @NumberField({ description: 'Milliseconds' })
  p50: number;

  @NumberField({ description: 'Milliseconds' })
  p95: number;
}

export class CatalogPerformanceDto {
  @ObjectField(() => LatencyDto, {
    nullable: true,
    description: 'Time to the first token of streamed requests; null if no request was streamed.',
  })
  ttft_ms: LatencyDto | null;

  @NumberField({ nullable: true, description: 'Median per request' })
  output_tokens_per_s: number | null;
}

export class CatalogEndpointDto {
  @StringField({ example: 'http://127.0.0.1:7080/v1' })
  base_url: string;

  @StringField({ example: 'acme/chat', description: 'Value to send as `model`' })
  model: string;
}

/** All fields that a catalog shows. No field shows which server or supplier answers, and none may be added. */
export class CatalogEntryDto {
  @StringField({ example: 'prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5' })
  id: string;

  @StringField({ enum: ['model'] })
  object: 'model';

  @StringField({ example: 'acme/chat' })
  slug: string;

  @StringField()
  name: string;

  @StringField({ nullable: true })
  description: string | null;

  @IntField({ description: 'Seconds since 1970' })
  created: number;

  @IntField({ nullable: true })
  context_length: number | null;

  @IntField({ nullable: true })
  max_output_tokens: number | null;

  @ArrayField('string')
  supported_parameters: string[];

  @ObjectField(() => CatalogPricingDto, { nullable: true })
  pricing: CatalogPricingDto | null;

  @ObjectField(() => CatalogPerformanceDto, {
    nullable: true,
    description: 'Measured over the last 15 minutes; null if no request was served.',
  })
  performance: CatalogPerformanceDto | null;

  @StringField({ enum: ['available', 'degraded', 'unavailable'], description: 'Measured over the last minute' })
  availability: 'available' | 'degraded' | 'unavailable';

  @BooleanField({
    description:
      'True if a `cache_salt` in a request does not keep the timing of its prompts from other tenants: the time of a response can show them whether an earlier prompt began with the same text. False if it does.',
  })
  shares_prefix_cache: boolean;

  @ObjectField(() => CatalogEndpointDto)
  endpoint: CatalogEndpointDto;
}

export class CatalogPageDto {
  @ArrayField(() => CatalogEntryDto)
  data: CatalogEntryDto[];

  @StringField({ nullable: true })
  next_cursor: string | null;
}
