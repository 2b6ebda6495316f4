import { Inject, Injectable } from '@nestjs/common';
import { publishSlug, withdrawSlug, type PublishedBinding } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, newId, openSecret, sealSecret, type Tx } from '@slipway/platform-database';
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
import { appendAudit } from '@slipway/platform-mutations';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { SHARE_BINDINGS, type BindingRow } from './binding.query.js';
import { Egress } from '@slipway/platform-egress';
import { modelApiErrors } from './model-api.errors.js';
import type { ProductDto } from './product.dto.js';
import { LOCK_PRODUCT, SET_PRODUCT_STATE } from './product.query.js';
import { bindingMisses, publicationIssues } from './publication-rules.js';
import type { CreatePublicationDto, PublicationBindingDto, PublicationDto } from './publication.dto.js';
import { END_CURRENT, FIND_PUBLICATION, INSERT_PUBLICATION, LIST_PUBLICATIONS } from './publication.query.js';

@Injectable()
export class PublicationsService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'secretKey'>,
    private readonly database: Database,
    private readonly egress: Egress,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** Swaps what serves the product: rows, holds and the gateways' snapshot in one transaction, under the product's lock. */
  create(who: Principal, body: CreatePublicationDto, isDryRun: boolean): Promise<Reply> {
    return this.database.tx(
      { tenantId: who.tenantId },
      async (tx) => {
        const product = await this.lock(tx, who.tenantId, body.product_id);
        const details = publicationIssues(body);
        if (details.length > 0) throw errors.validation_failed({ details });
        const bindings = await this.servable(tx, who.tenantId, body);

        const previous = await this.endCurrent(tx, product.id, 'superseded');
        const audience = {
          visibility: body.audience?.visibility ?? 'tenant',
          tenants: body.audience?.tenants ?? [],
        } as const;
        const publication = await tx.one<PublicationDto>(INSERT_PUBLICATION, [
          newId('pub'),
          who.tenantId,
          product.id,
          JSON.stringify(body.bindings.map(({ binding_id, weight, priority }) => ({ binding_id, weight, priority }))),
          JSON.stringify(audience),
          body.notes ?? null,
          JSON.stringify(who.actor),
        ]);
        await this.moveHolds(tx, previous, [...bindings.values()]);
        const isOurs = await publishSlug(tx, {
          slug: product.slug,
          tenantId: who.tenantId,
          productId: product.id,
          audience: { ...audience, tenants: [...audience.tenants] },
          bindings: body.bindings
            .filter(({ weight }) => weight > 0)
            .map((one) => this.published(one, bindings.get(one.binding_id) as BindingRow)),
        });
        if (!isOurs) throw new Error(`the gateways serve ${product.slug} for another tenant`);
        await tx.query(SET_PRODUCT_STATE, [who.tenantId, product.id, 'active']);
        await appendAudit(tx, {
          action: 'publication.create',
          resourceType: 'publication',
          resourceName: publication!.id,
          after: publication,
        });
        if (isDryRun)
          return rehearsal(
            `publish version ${publication!.version} of ${product.slug}`,
            [],
            diff(previous, publication!),
          );
        return reply(201, publication, { location: `/api/v1/admin/model-api/publications/${publication!.id}` });
      },
      { dryRun: isDryRun },
    );
  }

  async list(who: Principal, { limit, cursor }: PageRequest): Promise<PageOf<PublicationDto>> {
    const rows = await this.database.read<PublicationDto>({ tenantId: who.tenantId }, LIST_PUBLICATIONS, [
      who.tenantId,
      cursor?.[0] ?? null,
      limit + 1,
    ]);
    return pageOf(rows, limit, (row) => [row.id]);
  }

  /** Takes the product off the gateways. Withdrawing what is withdrawn answers the same. */
  withdraw(who: Principal, id: string): Promise<PublicationDto> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const found = await this.find(tx, who.tenantId, id);
      const product = await this.lock(tx, who.tenantId, found.product_id);
      const before = await this.find(tx, who.tenantId, id);
      if (before.state === 'withdrawn') return before;
      if (before.state === 'superseded') throw modelApiErrors.publication_superseded();
      const previous = await this.endCurrent(tx, product.id, 'withdrawn');
      await this.moveHolds(tx, previous, []);
      await withdrawSlug(tx, product.slug);
      await tx.query(SET_PRODUCT_STATE, [who.tenantId, product.id, 'draft']);
      const after = await this.find(tx, who.tenantId, id);
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

  /** The 404 of `withdraw`, for a request that is refused for something else, too. */
  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    await this.database.tx({ tenantId }, (tx) => this.find(tx, tenantId, id as string));
  }

  private async lock(tx: Tx, tenantId: string, id: string): Promise<ProductDto> {
    const product = await tx.one<ProductDto>(LOCK_PRODUCT, [tenantId, id]);
    if (!product) throw modelApiErrors.product_not_found();
    return product;
  }

  private async find(tx: Tx, tenantId: string, id: string): Promise<PublicationDto> {
    const publication = await tx.one<PublicationDto>(FIND_PUBLICATION, [tenantId, id]);
    if (!publication) throw modelApiErrors.publication_not_found();
    return publication;
  }

  /** The rows of the bindings, held until commit so that none loses its qualification meanwhile. Throws `binding_not_qualified`. */
  private async servable(tx: Tx, tenantId: string, body: CreatePublicationDto): Promise<Map<string, BindingRow>> {
    const rows = await tx.query<BindingRow>(SHARE_BINDINGS, [
      body.bindings.map(({ binding_id }) => binding_id),
      tenantId,
    ]);
    const unready = new Set<string>();
    for (const { id, revisionId } of rows) {
      if (revisionId !== null && !(await this.instances.status(tx, revisionId))?.ready) unready.add(id);
    }
    const bindings = new Map(rows.map((row) => [row.id, row]));
    const details = bindingMisses(body, bindings, ({ id }) => !unready.has(id));
    if (details.length > 0) throw modelApiErrors.binding_not_qualified({ details });
    return bindings;
  }

  private async endCurrent(
    tx: Tx,
    productId: string,
    state: 'superseded' | 'withdrawn',
  ): Promise<{ id: string; bindings: PublicationBindingDto[] } | undefined> {
    return tx.one<{ id: string; bindings: PublicationBindingDto[] }>(END_CURRENT, [productId, state]);
  }

  /** Published revisions stay up; those that nothing publishes any more are let go. */
  private async moveHolds(
    tx: Tx,
    previous: { bindings: PublicationBindingDto[] } | undefined,
    next: BindingRow[],
  ): Promise<void> {
    for (const { id, revisionId } of next)
      if (revisionId !== null) await this.instances.hold(tx, revisionId, `binding:${id}`);
    const gone = (previous?.bindings ?? [])
      .map(({ binding_id }) => binding_id)
      .filter((id) => next.every((binding) => binding.id !== id));
    if (gone.length === 0) return;
    const rows = await tx.query<BindingRow>(SHARE_BINDINGS, [gone, tx.tenant]);
    for (const { id, revisionId } of rows)
      if (revisionId !== null) await this.instances.release(tx, revisionId, `binding:${id}`);
  }

  /** The gateway opens credentials without knowing what they belong to, so they are sealed again for it. */
  private published({ weight, priority }: PublicationBindingDto, binding: BindingRow): PublishedBinding {
    const { id, revisionId, limits, target } = binding;
    const common = { binding_id: id, weight, priority, limits };
    if (revisionId !== null)
      return {
        ...common,
        upstream: { kind: 'revision', deployment_id: target.deployment_id as string, revision_id: revisionId },
      };
    const { base_url, model } = target as { base_url: string; model: string };
    const { secretKey } = this.config;
    const credential =
      binding.credential === null ? null : sealSecret(secretKey, openSecret(secretKey, binding.credential, id));
    return {
      ...common,
      upstream: { kind: 'supplier', base_url, model, credential, guard: { allow: this.egress.patternsFor(base_url) } },
    };
  }
}

function diff(previous: { bindings: PublicationBindingDto[] } | undefined, { bindings }: PublicationDto): object[] {
  return [{ op: previous ? 'replace' : 'add', path: '/bindings', value: bindings }];
}
