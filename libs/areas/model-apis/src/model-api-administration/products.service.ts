import { Injectable } from '@nestjs/common';
import { Database, findPage, newestFirst, newId, rowPage, type RowPage, type Tx } from '@slipway/platform-database';
import { pageOf, reply, type PageOf, type PageRequest, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import type { ProductsPort, PublishedProduct } from '@slipway/ports/model-api-administration';
import { modelApiErrors } from './model-api.errors.js';
import type { CreateProductDto, ProductDto } from './product.dto.js';
import { ProductEntity } from './product.entity.js';
import { isOwnSlug } from './publication-rules.js';
import { FIND_VISIBLE_PRODUCT, INSERT_PRODUCT, LIST_VISIBLE_PRODUCTS } from './product.query.js';

@Injectable()
export class ProductsService implements ProductsPort {
  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
  ) {}

  async create(who: Principal, body: CreateProductDto): Promise<Reply<ProductDto>> {
    assertOwnSlug(body.slug, who);
    return this.mutations.run({ principal: who }, async (tx) => {
      const id = newId('prd');
      const {
        slug,
        display_name = slug,
        description = null,
        modalities,
        context_length = null,
        max_output_tokens = null,
        supported_parameters,
        pricing,
      } = body;
      const inserted = await tx.one(INSERT_PRODUCT, [
        id,
        who.tenantId,
        slug,
        display_name,
        description,
        JSON.stringify(modalities),
        context_length,
        max_output_tokens,
        JSON.stringify(supported_parameters),
        pricing ? JSON.stringify(pricing) : null,
      ]);
      if (!inserted) throw modelApiErrors.product_exists({ message: `The slug ${slug} is already in use.` });
      const product = await this.get(tx, who.tenantId, id);
      await appendAudit(tx, {
        action: 'model_api_product.create',
        resourceType: 'model_api_product',
        resourceName: slug,
        after: product,
      });
      return reply(201, product);
    });
  }

  async list({ tenantId }: Principal, page: PageRequest): Promise<PageOf<ProductDto>> {
    const { rows, hasMore } = await this.database.tx({ tenantId }, (tx) =>
      findPage(tx, ProductEntity, newestFirst(tenantId, page)),
    );
    return pageOf({ rows: rows.map(answerOf), hasMore }, (row) => [row.id]);
  }

  async get(tx: Tx, tenantId: string, id: string): Promise<ProductDto> {
    const product = await tx.repository(ProductEntity).findOneBy({ tenant_id: tenantId, id });
    if (!product) throw modelApiErrors.product_not_found();
    return answerOf(product);
  }

  async visibleTo(tenantId: string, reference: string): Promise<PublishedProduct | undefined> {
    return (await this.database.read<PublishedProduct>('system', FIND_VISIBLE_PRODUCT, [tenantId, reference]))[0];
  }

  async listVisibleTo(
    tenantId: string,
    { after, limit }: { after: string | null; limit: number },
  ): Promise<RowPage<PublishedProduct>> {
    const values = [tenantId, after, limit];
    return rowPage(await this.database.read<PublishedProduct>('system', LIST_VISIBLE_PRODUCTS, values));
  }
}

/** @throws slug_not_yours (403) */
export function assertOwnSlug(slug: string, who: Principal): void {
  if (isOwnSlug(slug, who)) return;
  throw modelApiErrors.slug_not_yours({ message: `The slug ${slug} does not begin with ${who.tenantName}/.` });
}

function answerOf(row: ProductEntity): ProductDto {
  const { id, slug, display_name, description, modalities, context_length, max_output_tokens } = row;
  const { supported_parameters, pricing, state, created_at, updated_at } = row;
  const shown = { id, slug, display_name, description, modalities, context_length, max_output_tokens };
  return { ...shown, supported_parameters, pricing, state, created_at, updated_at };
}
