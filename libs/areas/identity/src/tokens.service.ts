import { Inject, Injectable } from '@nestjs/common';
import { IsNull, Raw } from 'typeorm';
import { ApiTokenEntity, TokenService, type TokenRow } from '@slipway/platform-http/auth';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { type Principal, errors, pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import type { Tx } from '@slipway/platform-database';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import { identityErrors } from './identity.errors.js';
import { LastAdmin } from './last-admin.js';
import { defaultExpiry, mintersOf, tokenObjections } from './token-rules.js';
import type { CreateTokenDto } from './token.dto.js';

@Injectable()
export class TokensService {
  constructor(
    private readonly mutations: Mutations,
    private readonly tokens: TokenService,
    private readonly lastAdmin: LastAdmin,
    @Inject(CONFIG) private readonly config: QuotaConfig,
  ) {}

  async create(who: Principal, dto: CreateTokenDto): Promise<TokenRow & { token: string }> {
    const { name, scopes, owner = who.owner } = dto;
    const minters = mintersOf(who);
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const now = await tx.now();
      const expiresAt = dto.expires_at === undefined ? defaultExpiry(now) : new Date(dto.expires_at);
      const details = tokenObjections(who, { scopes, expiresAt, minters }, now);
      if (details.length > 0) throw errors.validation_failed({ message: details[0]!.message, details });
      const limit = quotasOf(this.config, who.tenantName).tokens;
      await reserveQuota(tx, { tenantId: who.tenantId, quota: 'tokens', limit }, () => countActive(tx));
      const made = { createdBy: actorOf(who), owner, minters };
      const token = { tenantId: who.tenantId, name, scopes, expiresAt, ...made };
      const { row, text } = await this.tokens.create(tx, token);
      await appendAudit(tx, { action: 'token.create', resourceType: 'token', resourceName: row.id, after: row });
      return { ...row, token: text! };
    });
  }

  async list(who: Principal, page: PageRequest): Promise<PageOf<TokenRow>> {
    const rows = await this.tokens.list(who.tenantId, page.limit, page.cursor?.[0] as string | undefined);
    return pageOf(rows, (row) => [row.id]);
  }

  /** A repeated revocation returns the same answer, and leaves no second audit row. */
  async revoke(who: Principal, id: string): Promise<TokenRow> {
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      await this.lastAdmin.lock(tx, who);
      const before = await this.tokens.lock(tx, who.tenantId, id);
      if (!before) throw identityErrors.token_not_found();
      if (before.revoked_at !== null) return before;
      if (before.state === 'active' && before.scopes.includes('admin')) await this.lastAdmin.assertAnother(tx, id);
      const after = await this.tokens.revoke(tx, who.tenantId, id, actorOf(who));
      await appendAudit(tx, { action: 'token.revoke', resourceType: 'token', resourceName: id, before, after });
      return after!;
    });
  }
}

function countActive(tx: Tx): Promise<number> {
  const living = { revoked_at: IsNull(), expires_at: Raw((expiresAt) => `${expiresAt} > now()`) };
  return tx.repository(ApiTokenEntity).countBy({ tenant_id: tx.tenant, ...living });
}

function actorOf(who: Principal): string {
  return `${who.actor.type}:${who.actor.id}`;
}
