import { DATA_URLS_ONLY } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { publishSlug, supplierContext, withdrawSlug, type PublishedBinding } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, findPage, newestFirst, newId, openSecret, sealSecret, type Tx } from '@slipway/platform-database';
import {
  errors,
  pageOf,
  rehearsal,
  reply,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { In, LessThan, Not } from 'typeorm';
import { SHARE_BINDINGS, type ServableBinding } from './binding.query.js';
import { Egress } from '@slipway/platform-egress';
import { modelApiErrors } from './model-api.errors.js';
import { ProductEntity } from './product.entity.js';
import { LOCK_PRODUCT } from './product.query.js';
import { assertOwnSlug } from './products.service.js';
import {
  bindingMisses,
  hasOtherTenants,
  isOwnAudience,
  publicationIssues,
  sharesPrefixCache,
  sharesServer,
} from './publication-rules.js';
import type {
  AudienceDto,
  CreatePublicationDto,
  PublicationBindingDto,
  PublicationDto,
  PublicationFilterDto,
} from './publication.dto.js';
import { PublicationEntity } from './publication.entity.js';
import { LONGEST_URL_SHOWN } from './qualified-target.js';

/** Of a product, without the one that is published. */
const KEPT_PUBLICATIONS = 100;

type LockedProduct = Pick<ProductEntity, 'id' | 'slug'>;
type PublishableBinding = ServableBinding & { hasCacheSalt: boolean };

@Injectable()
export class PublicationsService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly egress: Egress,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
  ) {}

  /**
   * Replaces the publication of the product: rows, reasons to retain instances and the gateways' snapshot in one
   * transaction, under the product's lock.
   */
  async create(who: Principal, body: CreatePublicationDto, isDryRun: boolean): Promise<Reply> {
    if (!isOwnAudience(body.audience, who)) throw modelApiErrors.audience_not_yours();
    return this.mutations.run({ principal: who, isDryRun }, async (tx) => {
      const product = await this.lock(tx, who.tenantId, body.product_id);
      // Checked again, because products may be older than the rule.
      assertOwnSlug(product.slug, who);
      const details = publicationIssues(body);
      if (details.length > 0) throw errors.validation_failed({ details });
      const bindings = await this.servable(tx, who.tenantId, body);

      const previous = await this.endCurrent(tx, who.tenantId, product.id, 'superseded');
      const audience = {
        visibility: body.audience?.visibility ?? 'tenant',
        tenants: body.audience?.tenants ?? [],
      } as const;
      const shares = sharesPrefixCache(
        audience,
        who.tenantId,
        body.bindings.map((one) => ({ ...one, hasCacheSalt: bindings.get(one.binding_id)!.hasCacheSalt })),
      );
      const publication = answerOf(await this.insert(tx, who, body, audience, shares), product.slug);
      await this.moveRetention(tx, previous, [...bindings.values()]);
      const isOurs = await publishSlug(tx, {
        slug: product.slug,
        tenantId: who.tenantId,
        productId: product.id,
        audience: { ...audience, tenants: [...audience.tenants] },
        mediaUrls: publication.media_urls,
        bindings: body.bindings
          .filter(({ weight }) => weight > 0)
          .map((one) => this.published(who, one, bindings.get(one.binding_id) as ServableBinding)),
      });
      if (!isOurs) throw new Error(`The gateways already serve ${product.slug} for another tenant`);
      await this.setState(tx, who.tenantId, product.id, 'active');
      await appendAudit(tx, {
        action: 'publication.create',
        resourceType: 'publication',
        resourceName: publication.id,
        after: publication,
      });
      if (isDryRun)
        return rehearsal(`publish version ${publication.version} of ${product.slug}`, [], diff(previous, publication));
      return reply(201, publication, { location: `/api/v1/admin/model-api/publications/${publication.id}` });
    });
  }

  list(
    { tenantId }: Principal,
    { state, product_id }: PublicationFilterDto,
    page: PageRequest,
  ): Promise<PageOf<PublicationDto>> {
    const filter = { ...(state && { state }), ...(product_id && { product_id }) };
    return this.database.tx({ tenantId }, async (tx) => {
      const { rows, hasMore } = await findPage(tx, PublicationEntity, newestFirst(tenantId, page, filter));
      const products = await tx
        .repository(ProductEntity)
        .find({
          select: { id: true, slug: true },
          where: { tenant_id: tenantId, id: In(rows.map(({ product_id }) => product_id)) },
        });
      const slugs = new Map(products.map(({ id, slug }) => [id, slug]));
      const shown = rows.map((row) => answerOf(row, slugs.get(row.product_id) as string));
      return pageOf({ rows: shown, hasMore }, (row) => [row.id]);
    });
  }

  /** Takes the product off the gateways. A repeated withdrawal returns the same answer. */
  withdraw(who: Principal, id: string): Promise<PublicationDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const found = await this.find(tx, who.tenantId, id);
      const product = await this.lock(tx, who.tenantId, found.product_id);
      const before = answerOf(await this.find(tx, who.tenantId, id), product.slug);
      if (before.state === 'withdrawn') return before;
      if (before.state === 'superseded') throw modelApiErrors.publication_superseded();
      const previous = await this.endCurrent(tx, who.tenantId, product.id, 'withdrawn');
      await this.moveRetention(tx, previous, []);
      await withdrawSlug(tx, product.slug);
      await this.setState(tx, who.tenantId, product.id, 'draft');
      const after = answerOf(await this.find(tx, who.tenantId, id), product.slug);
      await appendAudit(tx, {
        action: 'publication.withdraw',
        resourceType: 'publication',
        resourceName: id,
        before,
        after,
      });
      return after;
    });
  }

  /** The 404 of `withdraw`, also for a request that is refused for another reason. */
  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    await this.database.tx({ tenantId }, (tx) => this.find(tx, tenantId, id as string));
  }

  private async lock(tx: Tx, tenantId: string, id: string): Promise<LockedProduct> {
    const product = await tx.one<LockedProduct>(LOCK_PRODUCT, [tenantId, id]);
    if (!product) throw modelApiErrors.product_not_found();
    return product;
  }

  private async setState(tx: Tx, tenantId: string, id: string, state: ProductEntity['state']): Promise<void> {
    await tx
      .repository(ProductEntity)
      .update({ tenant_id: tenantId, id, state: Not(state) }, { state, updated_at: () => 'now()' });
  }

  private async find(tx: Tx, tenantId: string, id: string): Promise<PublicationEntity> {
    const publication = await tx.repository(PublicationEntity).findOneBy({ tenant_id: tenantId, id });
    if (!publication) throw modelApiErrors.publication_not_found();
    return publication;
  }

  /** Every writer holds the product's lock, so no other request can take the next version. */
  private async insert(
    tx: Tx,
    { tenantId, actor }: Principal,
    { product_id, bindings, notes, media_urls: mediaUrls = DATA_URLS_ONLY }: CreatePublicationDto,
    audience: AudienceDto,
    sharesCache: boolean,
  ): Promise<PublicationEntity> {
    const publications = tx.repository(PublicationEntity);
    const newest = await publications.maximum('version', { tenant_id: tenantId, product_id });
    const id = newId('pub');
    await publications.insert({
      id,
      tenant_id: tenantId,
      product_id,
      version: (newest ?? 0) + 1,
      bindings: bindings.map(({ binding_id, weight, priority }) => ({ binding_id, weight, priority })),
      audience,
      shares_prefix_cache: sharesCache,
      media_urls: { allow: mediaUrls.allow, hosts: mediaUrls.hosts },
      notes: notes ?? null,
      created_by: actor,
    });
    await publications.delete({
      tenant_id: tenantId,
      product_id,
      state: Not('published'),
      version: LessThan((newest ?? 0) + 1 - KEPT_PUBLICATIONS),
    });
    return this.find(tx, tenantId, id);
  }

  /**
   * Returns the rows of the bindings, locked until commit so that none loses its qualification in the meantime.
   * @throws binding_not_qualified, server_already_bound
   */
  private async servable(
    tx: Tx,
    tenantId: string,
    body: CreatePublicationDto,
  ): Promise<Map<string, PublishableBinding>> {
    const rows = await tx.query<ServableBinding>(SHARE_BINDINGS, [
      body.bindings.map(({ binding_id }) => binding_id),
      tenantId,
    ]);
    const unready = new Set<string>();
    for (const { id, revision_id } of rows) {
      if (revision_id === null) continue;
      const status = await this.instances.status(tx, revision_id);
      if (!status?.ready && !status?.isAsleep) unready.add(id);
    }
    const bindings = new Map(rows.map((row) => [row.id, row]));
    const details = bindingMisses(body, bindings, ({ id }) => !unready.has(id));
    if (details.length > 0) throw modelApiErrors.binding_not_qualified({ details });
    const revisions = await this.revisions.getMany(
      tx,
      rows.flatMap(({ revision_id }) => revision_id ?? []),
    );
    const shared = sharesServer(rows, revisions);
    if (shared)
      throw modelApiErrors.server_already_bound({
        message: `Revision ${shared.name} and another revision of this publication use the same server: ${shared.url.slice(0, LONGEST_URL_SHOWN)}.`,
      });
    // A supplier has no revision, and promises nothing.
    const salted = new Set<string | null>(
      revisions.filter(({ spec }) => this.instances.traits(spec)?.hasCacheSalt).map(({ id }) => id),
    );
    return new Map(rows.map((row) => [row.id, { ...row, hasCacheSalt: salted.has(row.revision_id) }]));
  }

  /**
   * Ends the current publication and returns it. Under the product's lock there is at most one, and no other request
   * ends it.
   */
  private async endCurrent(
    tx: Tx,
    tenantId: string,
    productId: string,
    state: 'superseded' | 'withdrawn',
  ): Promise<PublicationEntity | undefined> {
    const publications = tx.repository(PublicationEntity);
    const current = await publications.findOneBy({ tenant_id: tenantId, product_id: productId, state: 'published' });
    if (!current) return undefined;
    await publications.update({ tenant_id: tenantId, id: current.id }, { state, ended_at: () => 'now()' });
    return current;
  }

  /** Published revisions stay up; a revision that is no longer published is released. */
  private async moveRetention(
    tx: Tx,
    previous: { bindings: PublicationBindingDto[] } | undefined,
    next: ServableBinding[],
  ): Promise<void> {
    for (const { id, revision_id } of next)
      if (revision_id !== null) await this.instances.retain(tx, revision_id, `binding:${id}`);
    const gone = (previous?.bindings ?? [])
      .map(({ binding_id }) => binding_id)
      .filter((id) => next.every((binding) => binding.id !== id));
    if (gone.length === 0) return;
    const rows = await tx.query<ServableBinding>(SHARE_BINDINGS, [gone, tx.tenant]);
    for (const { id, revision_id } of rows)
      if (revision_id !== null) await this.instances.release(tx, revision_id, `binding:${id}`);
  }

  /** The gateways' copy of a credential is bound to their row, so the credential is sealed again for it. */
  private published(
    { tenantId, tenantName }: Principal,
    { weight, priority }: PublicationBindingDto,
    binding: ServableBinding,
  ): PublishedBinding {
    const { id, revision_id, limits, target } = binding;
    const common = { binding_id: id, weight, priority, limits };
    if (revision_id !== null)
      return { ...common, upstream: { kind: 'revision', deployment_id: target.deployment_id as string, revision_id } };
    const { base_url, model } = target as { base_url: string; model: string };
    const { keyRing } = this.config;
    const credential =
      binding.credential === null
        ? null
        : sealSecret(keyRing, openSecret(keyRing, binding.credential, id), supplierContext(tenantId, id));
    return {
      ...common,
      upstream: {
        kind: 'supplier',
        base_url,
        model,
        credential,
        guard: { allow: this.egress.patternsFor(tenantName, base_url) },
      },
    };
  }
}

function answerOf(row: PublicationEntity, slug: string): PublicationDto {
  const { id, tenant_id, product_id, version, state, bindings, audience, notes, created_at, ended_at } = row;
  const shares_prefix_cache = row.shares_prefix_cache ?? hasOtherTenants(audience, tenant_id);
  const media_urls = row.media_urls ?? DATA_URLS_ONLY;
  const shown = { id, product_id, slug, version, state, bindings, audience, media_urls, shares_prefix_cache };
  return { ...shown, notes, created_at, ended_at };
}

function diff(previous: object | undefined, { bindings, media_urls, shares_prefix_cache }: PublicationDto): object[] {
  const op = previous ? 'replace' : 'add';
  return [
    { op, path: '/bindings', value: bindings },
    { op, path: '/media_urls', value: media_urls },
    { op, path: '/shares_prefix_cache', value: shares_prefix_cache },
  ];
}
