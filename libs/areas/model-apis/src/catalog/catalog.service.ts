import { Inject, Injectable } from '@nestjs/common';
import { withoutTrailingSlashes } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import { pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { PRODUCTS, type ProductsPort, type PublishedProduct } from '@slipway/ports/model-api-administration';
import type { CatalogEntryDto } from './catalog.dto.js';
import { catalogErrors } from './catalog.errors.js';
import { type ProductMeasurement, ProductMeasurements } from './product-measurements.js';

@Injectable()
export class CatalogService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'gateway'>,
    private readonly measurements: ProductMeasurements,
    @Inject(PRODUCTS) private readonly products: ProductsPort,
  ) {}

  async get(who: Principal, reference: string): Promise<CatalogEntryDto> {
    const product = await this.products.visibleTo(who.tenantId, reference);
    if (!product) throw catalogErrors.catalog_entry_not_found();
    return this.entry(product);
  }

  async list(who: Principal, { limit, cursor }: PageRequest): Promise<PageOf<CatalogEntryDto>> {
    const after = (cursor?.[0] as string | undefined) ?? null;
    const { rows: products, hasMore } = await this.products.listVisibleTo(who.tenantId, { after, limit });
    const rows: CatalogEntryDto[] = [];
    // One after the other: a page must not take every connection of the pool.
    for (const product of products) rows.push(await this.entry(product));
    return pageOf({ rows, hasMore }, ({ slug }) => [slug]);
  }

  private async entry(product: PublishedProduct): Promise<CatalogEntryDto> {
    return catalogEntry(product, await this.measurements.of(product), this.config.gateway.publicUrl);
  }
}

/**
 * Names every field, one by one, also within `pricing`, so that no other column of a row gets out. No spread, and no
 * copy of a whole object.
 */
export function catalogEntry(
  product: PublishedProduct,
  { performance, availability }: ProductMeasurement,
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
    shares_prefix_cache: product.sharesPrefixCache,
    endpoint: { base_url: `${withoutTrailingSlashes(gatewayUrl)}/v1`, model: product.slug },
  };
}
