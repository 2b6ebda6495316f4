import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, newId, sealSecret } from '@slipway/platform-database';
import {
  errors,
  pageOf,
  reply,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit } from '@slipway/platform-mutations';
import { checkUrl, Egress, PUBLIC } from '@slipway/platform-egress';
import type { CreateReferenceDto, ReferenceDto, RevokedReferenceDto } from './reference.dto.js';
import {
  INSERT_REFERENCE,
  LIST_REFERENCES,
  LOCK_REFERENCE,
  REVOKE_REFERENCE,
  type ReferenceRow,
} from './reference.query.js';
import { sandboxErrors } from './sandbox.errors.js';
import { SandboxesService } from './sandboxes.service.js';

@Injectable()
export class ReferencesService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'secretKey'>,
    private readonly database: Database,
    private readonly sandboxes: SandboxesService,
    private readonly egress: Egress,
  ) {}

  /** A reference and the sandbox that stands for the external one, in one transaction. */
  async create(who: Principal, dto: CreateReferenceDto): Promise<Reply> {
    this.assertBaseUrl(dto.base_url);
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const id = newId('sbr');
      const sandboxId = newId('sbx');
      const credential = dto.credential === undefined ? null : sealSecret(this.config.secretKey, dto.credential, id);
      const row = await tx.one<ReferenceRow>(INSERT_REFERENCE, [
        id,
        who.tenantId,
        sandboxId,
        dto.provider,
        dto.base_url,
        dto.external_id,
        credential,
      ]);
      await this.sandboxes.insert(tx, { id: sandboxId, provider: dto.provider, referenceId: id, labels: dto.labels });
      await appendAudit(tx, {
        action: 'sandbox_reference.create',
        resourceType: 'sandbox_reference',
        resourceName: id,
        after: row,
      });
      return reply(201, this.answer(row!));
    });
  }

  async list(who: Principal, page: PageRequest): Promise<PageOf<ReferenceDto>> {
    const rows = await this.database.read<ReferenceRow>({ tenantId: who.tenantId }, LIST_REFERENCES, [
      who.tenantId,
      page.cursor?.[0] ?? null,
      page.limit + 1,
    ]);
    return pageOf(
      rows.map((row) => this.answer(row)),
      page.limit,
      (row) => [row.id],
    );
  }

  /** Sends nothing to anybody. Revoking what is revoked answers the same, and leaves no second audit row. */
  async revoke(who: Principal, id: string): Promise<RevokedReferenceDto> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const before = await tx.one<ReferenceRow>(LOCK_REFERENCE, [id, who.tenantId]);
      if (!before) throw sandboxErrors.sandbox_reference_not_found();
      if (before.state === 'revoked') return revoked(before);
      const after = await tx.one<ReferenceRow>(REVOKE_REFERENCE, [
        id,
        who.tenantId,
        `${who.actor.type}:${who.actor.id}`,
      ]);
      await appendAudit(tx, {
        action: 'sandbox_reference.revoke',
        resourceType: 'sandbox_reference',
        resourceName: id,
        before,
        after: { ...before, state: 'revoked' },
      });
      return revoked(after!);
    });
  }

  /**
   * Refuses what can never be right. A public address that the operator does not allow (yet) is accepted: registering
   * sends nothing.
   * @throws validation_failed (422)
   */
  private assertBaseUrl(url: string): void {
    const verdict = this.egress.permits(url) ? undefined : checkUrl(PUBLIC, url);
    if (verdict && !verdict.ok) throw refusal(verdict.code, `base_url ${verdict.message}`);
    if (url.includes('?')) throw refusal('invalid_url', 'base_url must not carry a query');
  }

  private answer(row: ReferenceRow): ReferenceDto {
    const { id, sandbox_id, provider, base_url, external_id, state, revoked_at, revoked_by, created_at } = row;
    return {
      id,
      sandbox_id,
      provider,
      base_url,
      external_id,
      egress_allowed: this.egress.permits(base_url),
      state,
      revoked_at,
      revoked_by,
      created_at,
    };
  }
}

function refusal(code: string, message: string): Error {
  return errors.validation_failed({ message, details: [{ field: 'base_url', code, message }] });
}

function revoked({ id, revoked_at }: ReferenceRow): RevokedReferenceDto {
  return { id, state: 'revoked', revoked_at: revoked_at!, external_sandbox_changed: false };
}
