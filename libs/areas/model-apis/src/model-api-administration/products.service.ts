import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  containing,
  Database,
  findPage,
  newestFirst,
  newId,
  rowPage,
  type RowPage,
  type Tx,
} from '@slipway/platform-database';
import {
  assertPreconditions,
  errors,
  etagOf,
  MOST_USES_SHOWN,
  pageOf,
  patchedFields,
  reply,
  usedBy,
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import type { ProductsPort, PublishedProduct } from '@slipway/ports/model-api-administration';
import { BindingEntity } from './binding.entity.js';
import { modelApiErrors } from './model-api.errors.js';
import {
  ProductSettingsDto,
  type CreateProductDto,
  type DeletedProductDto,
  type ProductDto,
  type UpdateProductDto,
  type ProductFilterDto,
} from './product.dto.js';
import { ProductEntity } from './product.entity.js';
import { PublicationEntity } from './publication.entity.js';
import { isOwnSlug } from './publication-rules.js';
import { FIND_VISIBLE_PRODUCT, INSERT_PRODUCT, LIST_VISIBLE_PRODUCTS, LOCK_PRODUCT } from './product.query.js';

type ProductSettings = Pick<
  ProductEntity,
  | 'display_name'
  | 'description'
  | 'modalities'
  | 'context_length'
  | 'max_output_tokens'
  | 'supported_parameters'
  | 'pricing'
>;

@Injectable()
export class ProductsService implements ProductsPort, ExistenceCheck {
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
      return reply(201, product, { etag: product.etag, location: `/api/v1/admin/model-api/products/${id}` });
    });
  }

  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    await this.database.tx({ tenantId }, (tx) => this.get(tx, tenantId, id!));
  }

  async show({ tenantId }: Principal, id: string): Promise<Reply<ProductDto>> {
    const product = await this.database.tx({ tenantId }, (tx) => this.get(tx, tenantId, id));
    return reply(200, product, { etag: product.etag });
  }

  /** A patch that changes nothing writes nothing. */
  update(who: Principal, id: string, patch: UpdateProductDto, conditions: Preconditions): Promise<Reply<ProductDto>> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const before = await this.lock(tx, who.tenantId, id);
      const { slug, ...changes } = JSON.parse(JSON.stringify(patch)) as UpdateProductDto;
      if (slug !== undefined && slug !== before.slug) throw slugIsFixed(before.slug);
      const settings = patchedSettings(before, changes);
      assertPreconditions(conditions, before.etag);
      if (isDeepStrictEqual(settingsOf(before), settings)) return reply(200, before, { etag: before.etag });
      await tx
        .repository(ProductEntity)
        .update({ tenant_id: who.tenantId, id }, { ...settings, updated_at: () => 'now()' });
      const after = await this.get(tx, who.tenantId, id);
      await appendAudit(tx, { ...auditOf('update', before), before, after });
      return reply(200, after, { etag: after.etag });
    });
  }

  /** Its ended publications go with it, because they describe nothing any more. */
  delete(who: Principal, id: string, conditions: Preconditions): Promise<DeletedProductDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const before = await this.lock(tx, who.tenantId, id);
      assertPreconditions(conditions, before.etag);
      const ofProduct = { tenant_id: who.tenantId, product_id: id };
      const found = { select: { id: true }, take: MOST_USES_SHOWN + 1 } as const;
      const publications = tx.repository(PublicationEntity);
      const published = await publications.find({ ...found, where: { ...ofProduct, state: 'published' } });
      const bindings = await tx.repository(BindingEntity).find({ ...found, where: ofProduct, order: { id: 'ASC' } });
      const uses = [
        ...published.map((one) => ({ type: 'publication', id: one.id })),
        ...bindings.map((one) => ({ type: 'target_binding', id: one.id })),
      ];
      if (uses.length > 0) throw modelApiErrors.product_in_use(usedBy(`Product ${before.slug}`, uses));
      await publications.delete(ofProduct);
      await tx.repository(ProductEntity).delete({ tenant_id: who.tenantId, id });
      await appendAudit(tx, { ...auditOf('delete', before), before });
      return { id, state: 'deleted' };
    });
  }

  /** Keeps the product from being deleted until the transaction ends. @throws product_not_found */
  async hold(tx: Tx, tenantId: string, id: string): Promise<void> {
    const held = await tx
      .repository(ProductEntity)
      .findOne({ select: { id: true }, where: { tenant_id: tenantId, id }, lock: { mode: 'for_key_share' } });
    if (!held) throw modelApiErrors.product_not_found();
  }

  private async lock(tx: Tx, tenantId: string, id: string): Promise<ProductDto> {
    await tx.query(LOCK_PRODUCT, [tenantId, id]);
    return this.get(tx, tenantId, id);
  }

  async list({ tenantId }: Principal, { state, q }: ProductFilterDto, page: PageRequest): Promise<PageOf<ProductDto>> {
    const options = newestFirst(tenantId, page, { ...(state && { state }) });
    const text = q && containing(q);
    const where = text
      ? [
          { ...options.where, slug: text },
          { ...options.where, display_name: text },
        ]
      : options.where;
    const { rows, hasMore } = await this.database.tx({ tenantId }, (tx) =>
      findPage(tx, ProductEntity, { ...options, where }),
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
  const { id, slug, state, created_at, updated_at } = row;
  const shown = { id, slug, ...settingsOf(row), state, created_at, updated_at };
  return { ...shown, etag: etagOf(JSON.stringify(shown)) };
}

function settingsOf(row: ProductSettings): ProductSettings {
  const { display_name, description, modalities, context_length, max_output_tokens, supported_parameters, pricing } =
    row;
  return { display_name, description, modalities, context_length, max_output_tokens, supported_parameters, pricing };
}

/** Applies a merge patch. @throws validation_failed (422) if the result breaks a rule */
function patchedSettings(before: ProductDto, patch: object): ProductSettings {
  return patchedFields(settingsOf(before), patch, {
    type: ProductSettingsDto,
    toFields: (dto) => ({
      display_name: dto.display_name ?? before.slug,
      description: dto.description ?? null,
      modalities: dto.modalities,
      context_length: dto.context_length ?? null,
      max_output_tokens: dto.max_output_tokens ?? null,
      supported_parameters: dto.supported_parameters,
      pricing: dto.pricing ? { ...dto.pricing } : null,
    }),
  });
}

function slugIsFixed(slug: string): Error {
  const message = `The slug of product ${slug} cannot change, because clients send it as model.`;
  return errors.validation_failed({
    message,
    details: [{ field: 'slug', code: 'immutable', message }],
    remediation: 'Omit slug. To get another slug, create another product.',
  });
}

function auditOf(verb: 'update' | 'delete', { slug }: ProductDto) {
  return { action: `model_api_product.${verb}`, resourceType: 'model_api_product', resourceName: slug };
}
