import { Injectable } from '@nestjs/common';
import { TokenService, type TokenRow } from '@slipway/platform-auth';
import { type Principal, errors, pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import { Database } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-mutations';
import { identityErrors } from './identity.errors.js';
import { LastAdmin } from './last-admin.js';
import { defaultExpiry, tokenObjections } from './token-rules.js';
import type { CreateTokenDto } from './token.dto.js';

@Injectable()
export class TokensService {
  constructor(
    private readonly database: Database,
    private readonly tokens: TokenService,
    private readonly lastAdmin: LastAdmin,
  ) {}

  async create(who: Principal, dto: CreateTokenDto): Promise<TokenRow & { token: string }> {
    const now = new Date();
    const expiresAt = dto.expires_at === undefined ? defaultExpiry(now) : new Date(dto.expires_at);
    const details = tokenObjections(who, dto.scopes, expiresAt, now);
    if (details.length > 0) throw errors.validation_failed({ message: details[0]!.message, details });
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const token = { tenantId: who.tenantId, name: dto.name, scopes: dto.scopes, expiresAt, createdBy: actorOf(who) };
      const { row, text } = await this.tokens.create(tx, token);
      await appendAudit(tx, { action: 'token.create', resourceType: 'token', resourceName: row.id, after: row });
      return { ...row, token: text! };
    });
  }

  async list(who: Principal, page: PageRequest): Promise<PageOf<TokenRow>> {
    const rows = await this.tokens.list(who.tenantId, page.limit + 1, page.cursor?.[0] as string | undefined);
    return pageOf(rows, page.limit, (row) => [row.id]);
  }

  /** Revoking what is revoked answers the same, and leaves no second audit row. */
  async revoke(who: Principal, id: string): Promise<TokenRow> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      await this.lastAdmin.lock(tx);
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

function actorOf(who: Principal): string {
  return `${who.actor.type}:${who.actor.id}`;
}
