import type { PublishedProduct } from '@slipway/ports/model-api-administration';
import type { CatalogEntryDto } from './catalog.dto.js';
import type { Measurement } from './measurement.js';

/**
 * Every field is named here, one by one, also within `pricing`: what a row may hold beside them never gets out. No spread, no
 * copy of a whole object.
 */
export function catalogEntry(
  product: PublishedProduct,
  { performance, availability }: Measurement,
  gatewayUrl: string,
): CatalogEntryDto {
  const { pricing } = product;
  return {
    id: product.id,
    object: 'model',
    slug: product.slug,
    name: product.displayName,
    description: product.description,
    created: Math.floor(product.createdAt.getTime() / 1_000),
    context_length: product.contextLength,
    max_output_tokens: product.maxOutputTokens,
    supported_parameters: product.supportedParameters.map(String),
    pricing: pricing && {
      currency: pricing.currency,
      input_per_mtok: pricing.input_per_mtok,
      output_per_mtok: pricing.output_per_mtok,
    },
    performance: performance && {
      ttft_ms: performance.ttft_ms && { p50: performance.ttft_ms.p50, p95: performance.ttft_ms.p95 },
      output_tokens_per_s: performance.output_tokens_per_s,
    },
    availability,
    endpoint: { base_url: `${gatewayUrl.replace(/\/+$/, '')}/v1`, model: product.slug },
  };
}
