import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, findPage, newestFirst, newId, sealSecret, type Tx } from '@slipway/platform-database';
import {
  errors,
  MOST_USES_SHOWN,
  pageOf,
  reply,
  usedBy,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { checkUrl, Egress, PUBLIC } from '@slipway/platform-egress';
import type {
  CreateReferenceDto,
  DeletedReferenceDto,
  ReferenceDto,
  RevokedReferenceDto,
  ReferenceFilterDto,
} from './reference.dto.js';
import { ReferenceEntity } from './reference.entity.js';
import { LOCK_SANDBOX_REFERENCE, REVOKE_SANDBOX_REFERENCE } from './reference.query.js';
import { sandboxErrors } from '../sandbox.errors.js';
import { SandboxEntity } from '../sandbox.entity.js';
import { SandboxesService } from '../sandboxes.service.js';

/**
 * The columns that answers and audits show, except those that are computed for each answer. The credential is not even
 * read.
 */
const SHOWN = {
  id: true,
  sandbox_id: true,
  provider: true,
  base_url: true,
  external_id: true,
  state: true,
  revoked_at: true,
  revoked_by: true,
  created_at: true,
} as const;
type Reference = Pick<ReferenceEntity, keyof typeof SHOWN>;

@Injectable()
export class ReferencesService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly sandboxes: SandboxesService,
    private readonly egress: Egress,
  ) {}

  /** Creates a reference and the sandbox that represents the external one, in one transaction. */
  async create(who: Principal, dto: CreateReferenceDto): Promise<Reply> {
    await this.assertBaseUrl(who, dto.base_url);
    return this.mutations.run({ principal: who }, async (tx) => {
      const id = newId('sbr');
      const sandboxId = newId('sbx');
      const credential = dto.credential === undefined ? null : sealSecret(this.config.keyRing, dto.credential, id);
      await tx
        .repository(ReferenceEntity)
        .insert({
          id,
          tenant_id: who.tenantId,
          sandbox_id: sandboxId,
          provider: dto.provider,
          base_url: dto.base_url,
          external_id: dto.external_id,
          credential,
        });
      const row = await find(tx, who.tenantId, id);
      await this.sandboxes.insert(tx, who, {
        id: sandboxId,
        provider: dto.provider,
        referenceId: id,
        labels: dto.labels,
      });
      await appendAudit(tx, {
        action: 'sandbox_reference.create',
        resourceType: 'sandbox_reference',
        resourceName: id,
        after: row,
      });
      return reply(201, this.answer(who, row));
    });
  }

  async list(who: Principal, { state }: ReferenceFilterDto, page: PageRequest): Promise<PageOf<ReferenceDto>> {
    const { rows, hasMore } = await this.database.tx({ tenantId: who.tenantId }, (tx) =>
      findPage(tx, ReferenceEntity, { select: SHOWN, ...newestFirst(who.tenantId, page, { ...(state && { state }) }) }),
    );
    return pageOf({ rows: rows.map((row) => this.answer(who, row)), hasMore }, (row) => [row.id]);
  }

  /** Sends nothing to the outside. A repeated revocation returns the same answer and leaves no second audit row. */
  async revoke(who: Principal, id: string): Promise<RevokedReferenceDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      await tx.query(LOCK_SANDBOX_REFERENCE, [id, who.tenantId]);
      const before = await find(tx, who.tenantId, id);
      if (before.state === 'revoked') return revokedAnswer(before);
      const actor = `${who.actor.type}:${who.actor.id}`;
      const after = await tx.one<RevokedReference>(REVOKE_SANDBOX_REFERENCE, [id, who.tenantId, actor]);
      await appendAudit(tx, {
        action: 'sandbox_reference.revoke',
        resourceType: 'sandbox_reference',
        resourceName: id,
        before,
        after: { ...before, state: 'revoked' },
      });
      return revokedAnswer(after!);
    });
  }

  /** Sandboxes keep the reference from being deleted, so that uploads to them still answer that it was revoked. */
  async delete(who: Principal, id: string): Promise<DeletedReferenceDto> {
    return this.mutations.run({ principal: who }, async (tx) => {
      await tx.query(LOCK_SANDBOX_REFERENCE, [id, who.tenantId]);
      const before = await find(tx, who.tenantId, id);
      if (before.state === 'active') throw sandboxErrors.sandbox_reference_active();
      const sandboxes = await tx
        .repository(SandboxEntity)
        .find({
          select: { id: true },
          where: { tenant_id: who.tenantId, reference_id: id },
          order: { id: 'ASC' },
          take: MOST_USES_SHOWN + 1,
        });
      const uses = sandboxes.map((sandbox) => ({ type: 'sandbox', id: sandbox.id }));
      if (uses.length > 0) throw sandboxErrors.sandbox_reference_in_use(usedBy(`Reference ${id}`, uses));
      await tx.repository(ReferenceEntity).delete({ id, tenant_id: who.tenantId });
      await appendAudit(tx, {
        action: 'sandbox_reference.delete',
        resourceType: 'sandbox_reference',
        resourceName: id,
        before,
      });
      return { id, state: 'deleted', external_sandbox_changed: false };
    });
  }

  /**
   * Refuses URLs that can never be right. A public address that the operator does not allow (yet) is accepted:
   * registering sends nothing.
   * @throws validation_failed (422)
   */
  private async assertBaseUrl({ tenantName }: Principal, url: string): Promise<void> {
    const allowed = this.egress.check(tenantName, url);
    const check = await this.egress.resolved(allowed.ok ? allowed : checkUrl(PUBLIC, url));
    if (!check.ok) throw refusal(check.code, `base_url ${check.message}`);
    if (url.includes('?')) throw refusal('invalid_url', 'base_url must not contain a query');
  }

  private answer({ tenantName }: Principal, row: Reference): ReferenceDto {
    const { id, sandbox_id, provider, base_url, external_id, state, revoked_at, revoked_by, created_at } = row;
    return {
      id,
      sandbox_id,
      provider,
      base_url,
      external_id,
      egress_allowed: this.egress.permits(tenantName, base_url),
      state,
      revoked_at,
      revoked_by,
      created_at,
    };
  }
}

/** @throws sandbox_reference_not_found (404) */
async function find(tx: Tx, tenantId: string, id: string): Promise<Reference> {
  const row = await tx.repository(ReferenceEntity).findOne({ select: SHOWN, where: { id, tenant_id: tenantId } });
  if (!row) throw sandboxErrors.sandbox_reference_not_found();
  return row;
}

function refusal(code: string, message: string): Error {
  return errors.validation_failed({ message, details: [{ field: 'base_url', code, message }] });
}

type RevokedReference = Pick<Reference, 'id' | 'revoked_at'>;

function revokedAnswer({ id, revoked_at }: RevokedReference): RevokedReferenceDto {
  return { id, state: 'revoked', revoked_at: revoked_at!, external_sandbox_changed: false };
}
