import type { PromisedTraits } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, findPage, newestFirst, newId, sealSecret, type Tx } from '@slipway/platform-database';
import {
  errors,
  pageOf,
  reply,
  usedBy,
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { operationErrors, OperationRequests } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import type {
  BindingDto,
  BindingTargetDto,
  BoundTargetDto,
  CreateBindingDto,
  DeletedBindingDto,
  BindingFilterDto,
} from './binding.dto.js';
import { BindingEntity, withResult } from './binding.entity.js';
import { INSERT_BINDING, LOCK_ADOPTED_SERVER, LOCK_BINDING, type LockedBinding } from './binding.query.js';
import { adoptedUrls, canonicalBaseUrl, targetDigest, targetIssues } from './binding-target.js';
import { Egress, type UrlCheckResult } from '@slipway/platform-egress';
import { Not } from 'typeorm';
import { modelApiErrors } from './model-api.errors.js';
import { ProductsService } from './products.service.js';
import { PublicationEntity } from './publication.entity.js';
import { QUALIFICATION, stepsFor } from './qualify-target-binding.operation.js';

/** Most bindings of a tenant that a check reads, the newest first. */
const MOST_BINDINGS = 1_000;
/** Few, because a spec may have long arguments and variables. */
const REVISIONS_AT_ONCE = 25;

@Injectable()
export class BindingsService implements ExistenceCheck {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly requests: OperationRequests,
    private readonly products: ProductsService,
    private readonly egress: Egress,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    await this.get(tenantId, id as string);
  }

  async create(who: Principal, body: CreateBindingDto): Promise<Reply<BindingDto>> {
    // Outside of the transaction, because it may take a second.
    const reach = await this.reachOf(who, body.target);
    return this.mutations.run({ principal: who }, async (tx) => {
      await this.products.hold(tx, who.tenantId, body.product_id);
      this.assertTarget(body.target, reach);
      const target = await this.pin(tx, who.tenantId, body.target);
      const id = newId('bnd');
      const { credential } = body.target;
      const digest = targetDigest(this.config.keyRing.current.secret, target, credential);
      const { max_rps = null, max_concurrency = null, share_per_tenant = null } = body.limits ?? {};
      const limits = { max_rps, max_concurrency, ...(share_per_tenant !== null && { share_per_tenant }) };
      const inserted = await tx.one(INSERT_BINDING, [
        id,
        who.tenantId,
        body.product_id,
        JSON.stringify(target),
        target.revision_id ?? null,
        credential === undefined ? null : sealSecret(this.config.keyRing, credential, id),
        digest,
        JSON.stringify(limits),
        JSON.stringify(who.actor),
      ]);
      if (!inserted) throw await this.twin(tx, who.tenantId, body.product_id, digest);
      // The binding never changes, so its revision must be kept as long as the binding.
      if (target.revision_id) await this.revisions.pin(tx, target.revision_id, `binding:${id}`);
      const binding = await this.find(tx, who.tenantId, id);
      await appendAudit(tx, {
        action: 'target_binding.create',
        resourceType: 'target_binding',
        resourceName: id,
        after: binding,
      });
      return reply(201, binding, { location: `/api/v1/admin/model-api/target-bindings/${id}` });
    });
  }

  get(tenantId: string, id: string): Promise<BindingDto> {
    return this.database.tx({ tenantId }, (tx) => this.find(tx, tenantId, id));
  }

  async list(
    { tenantId }: Principal,
    { state, product_id }: BindingFilterDto,
    page: PageRequest,
  ): Promise<PageOf<BindingDto>> {
    const filter = { ...(state && { state }), ...(product_id && { product_id }) };
    return this.database.tx({ tenantId }, async (tx) => {
      const { rows, hasMore } = await findPage(tx, BindingEntity, newestFirst(tenantId, page, filter));
      return pageOf({ rows: await this.answersOf(tx, rows), hasMore }, (row) => [row.id]);
    });
  }

  /** One qualification at a time: the binding's row names the running one. */
  qualify(principal: Principal, id: string): Promise<Reply> {
    const { tenantId } = principal;
    const resource = { resourceType: 'target_binding', resourceName: id };
    return this.requests.accept(QUALIFICATION, { principal, ...resource }, async (tx, operationId) => {
      const binding = await tx.one<LockedBinding>(LOCK_BINDING, [id, tenantId]);
      if (!binding) throw modelApiErrors.target_binding_not_found();
      const { operation_id: running } = binding;
      if (running !== null) throw isQualifying(running);
      await tx.repository(BindingEntity).update({ tenant_id: tenantId, id }, { operation_id: operationId });
      const product = await this.products.get(tx, tenantId, binding.product_id);
      return {
        resourceId: id,
        stream: `target-binding/${id}`,
        input: { bindingId: id, revisionId: binding.revision_id, deploymentId: binding.target.deployment_id ?? null },
        steps: stepsFor(await this.traits(tx, binding.revision_id), product.context_length),
        audit: { action: 'target_binding.qualify', ...resource },
      };
    });
  }

  /** The lock waits for a publication that takes the binding, and for a qualification that begins or ends. */
  delete(who: Principal, id: string): Promise<DeletedBindingDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      const binding = await tx.one<LockedBinding>(LOCK_BINDING, [id, who.tenantId]);
      if (!binding) throw modelApiErrors.target_binding_not_found();
      const { operation_id: running, product_id, revision_id: revisionId } = binding;
      if (running !== null) throw isQualifying(running);
      const current = await tx
        .repository(PublicationEntity)
        .findOneBy({ tenant_id: who.tenantId, product_id, state: 'published' });
      if (current?.bindings.some(({ binding_id }) => binding_id === id))
        throw modelApiErrors.target_binding_in_use(
          usedBy(`Target binding ${id}`, [{ type: 'publication', id: current.id }]),
        );
      const before = await this.find(tx, who.tenantId, id);
      await tx.repository(BindingEntity).delete({ tenant_id: who.tenantId, id });
      if (revisionId !== null) {
        await this.revisions.unpin(tx, revisionId, `binding:${id}`);
        await this.instances.release(tx, revisionId, `binding:${id}`);
      }
      await appendAudit(tx, {
        action: 'target_binding.delete',
        resourceType: 'target_binding',
        resourceName: id,
        before,
      });
      return { id, state: 'deleted' };
    });
  }

  private async reachOf(
    { tenantName }: Principal,
    { base_url: url }: BindingTargetDto,
  ): Promise<UrlCheckResult | undefined> {
    return url === undefined ? undefined : this.egress.checkNow(tenantName, url);
  }

  /** @param check of the supplier's address, if the target has one */
  private assertTarget(target: BindingTargetDto, check: UrlCheckResult | undefined): void {
    const details = targetIssues(target);
    if (details.length > 0) throw errors.validation_failed({ details });
    if (target.base_url === undefined || check === undefined) return;
    const refusal =
      check.ok && target.base_url.includes('?') ? { code: 'invalid_url', message: 'must not contain a query' } : check;
    if ('code' in refusal)
      throw errors.validation_failed({
        details: [{ field: 'target.base_url', code: refusal.code, message: `target.base_url ${refusal.message}` }],
      });
  }

  private async pin(tx: Tx, tenantId: string, target: BindingTargetDto): Promise<BoundTargetDto> {
    if (target.deployment === undefined)
      return { supplier: target.supplier, base_url: canonicalBaseUrl(target.base_url as string), model: target.model };
    const deployment = await this.deployments.get(tx, tenantId, target.deployment);
    const revision = await this.revisions.find(tx, deployment.id, target.revision as string);
    await this.assertServesOne(tx, revision);
    return {
      deployment: deployment.name,
      deployment_id: deployment.id,
      revision: revision.name,
      revision_id: revision.id,
    };
  }

  /**
   * A server that answers to any name cannot distinguish two revisions: traffic split between them would compare a
   * model with itself.
   */
  private async assertServesOne(tx: Tx, revision: Revision): Promise<void> {
    const { id, tenantId, spec } = revision;
    const urls = adoptedUrls(spec);
    const { unknownModel } = this.instances.traits(spec) ?? {};
    if (urls.length === 0 || (unknownModel !== 'ignores' && unknownModel !== 'echoes')) return;
    for (const url of urls) await tx.query(LOCK_ADOPTED_SERVER, [tenantId, url]);
    const bound = await tx
      .repository(BindingEntity)
      .find({
        select: { revision_id: true },
        where: { tenant_id: tenantId, revision_id: Not(id), state: Not('retired') },
        order: { created_at: 'DESC' },
        take: MOST_BINDINGS,
      });
    const ids = [...new Set(bound.map((row) => row.revision_id as string))];
    for (let at = 0; at < ids.length; at += REVISIONS_AT_ONCE) {
      const others = await this.revisions.getMany(tx, ids.slice(at, at + REVISIONS_AT_ONCE));
      const other = others.find((one) => adoptedUrls(one.spec).some((url) => urls.includes(url)));
      if (!other) continue;
      throw modelApiErrors.server_already_bound({ message: `Revision ${other.name} is already bound to this server.` });
    }
  }

  private async traits(tx: Tx, revisionId: string | null): Promise<PromisedTraits | undefined> {
    if (revisionId === null) return undefined;
    const [revision] = await this.revisions.getMany(tx, [revisionId]);
    return revision && this.instances.traits(revision.spec);
  }

  private async find(tx: Tx, tenantId: string, id: string): Promise<BindingDto> {
    const binding = await tx.repository(BindingEntity).findOneBy({ tenant_id: tenantId, id });
    if (!binding) throw modelApiErrors.target_binding_not_found();
    const [answer] = await this.answersOf(tx, [binding]);
    return answer as BindingDto;
  }

  private async answersOf(tx: Tx, rows: readonly BindingEntity[]): Promise<BindingDto[]> {
    const revisions = rows.flatMap(({ revision_id }) => (revision_id === null ? [] : [revision_id]));
    const drifted = revisions.length > 0 ? await this.instances.driftedSince(tx, revisions) : new Map<string, string>();
    return rows.map((row) => answerOf(row, drifted.get(row.revision_id ?? '') ?? null));
  }

  private async twin(tx: Tx, tenantId: string, productId: string, digest: string): Promise<Error> {
    const twin = await tx
      .repository(BindingEntity)
      .findOneBy({ tenant_id: tenantId, product_id: productId, target_digest: digest });
    return modelApiErrors.binding_exists({
      message: `Binding ${twin?.id} already binds this product to this target.`,
      extra: { binding_id: twin?.id },
    });
  }
}

function isQualifying(operationId: string): Error {
  return operationErrors.operation_in_progress({
    message: `Operation ${operationId} is already qualifying this binding.`,
    extra: { operation_id: operationId },
    remediation: 'Wait for the operation to end, or cancel it.',
  });
}

function answerOf({ checked_at, checks, ...row }: BindingEntity, driftedSince: string | null): BindingDto {
  const { id, product_id, target, target_digest, limits, state, created_at } = row;
  const qualification = { checked_at, checks: checks.map(withResult), drifted_since: driftedSince };
  const drifted = driftedSince !== null;
  return { id, product_id, target, target_digest, limits, state, drifted, qualification, created_at };
}
