import { Inject, Injectable } from '@nestjs/common';
import { IsNull, Raw } from 'typeorm';
import {
  ApiTokenEntity,
  CREATED_BY_CONFIGURATION,
  type NewToken,
  TokenService,
  type TokenRow,
} from '@slipway/platform-http/auth';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import {
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Principal,
  errors,
  pageOf,
} from '@slipway/platform-http';
import { Database, type Tx } from '@slipway/platform-database';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import { identityErrors } from './identity.errors.js';
import { LastAdmin } from './last-admin.js';
import {
  defaultExpiry,
  mintersOf,
  namedExpiry,
  rotatorsOf,
  sameLife,
  type TokenLife,
  tokenObjections,
  type TokenRequest,
} from './token-rules.js';
import type { CreateTokenDto, RotatedTokenDto, RotateTokenDto, TokenFilterDto } from './token.dto.js';

const USABLE = { revoked_at: IsNull(), expires_at: Raw((expiresAt) => `${expiresAt} > now()`) };

@Injectable()
export class TokensService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly tokens: TokenService,
    private readonly lastAdmin: LastAdmin,
    @Inject(CONFIG) private readonly config: QuotaConfig,
  ) {}

  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    if (!(await this.database.tx({ tenantId }, (tx) => this.isKnown(tx, id!)))) throw identityErrors.token_not_found();
  }

  async create(who: Principal, dto: CreateTokenDto): Promise<TokenRow & { token: string }> {
    assertOneLife(dto);
    const { name, scopes, owner = who.owner } = dto;
    const minters = mintersOf(who);
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const now = await tx.now();
      const life = namedExpiry(dto, now) ?? { expiresAt: defaultExpiry(now) };
      assertAllowed(who, { scopes, minters, ...life }, now);
      await this.reserve(tx, who);
      await assertNameIsFree(tx, name);
      const made = { createdBy: actorOf(who), owner, minters };
      const token = { tenantId: who.tenantId, name, scopes, expiresAt: life.expiresAt, ...made };
      const { row, text } = await this.tokens.create(tx, token);
      await appendAudit(tx, { action: 'token.create', resourceType: 'token', resourceName: row.id, after: row });
      return { ...row, token: text! };
    });
  }

  async list(who: Principal, { state }: TokenFilterDto, page: PageRequest): Promise<PageOf<TokenRow>> {
    const { limit, cursor, order, since, until } = page;
    const past = cursor?.[0] as string | undefined;
    const rows = await this.tokens.list(who.tenantId, limit, { past, state, order, since, until });
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

  /**
   * Creates a token with the name, scopes and owner of another one, and ends that one after the overlap. The tenant
   * cannot lose its last admin by it, because the new token has the same scopes.
   */
  async rotate(who: Principal, id: string, dto: RotateTokenDto): Promise<RotatedTokenDto> {
    assertOneLife(dto);
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const hasOverlap = dto.overlap_seconds > 0;
      // A token that ends now makes capacity for its replacement. During an overlap both count. The lock of the quota
      // comes before that of the caller.
      if (hasOverlap && (await this.isKnown(tx, id))) await this.reserve(tx, who);
      await this.lastAdmin.lock(tx, who);
      const before = await this.tokens.lock(tx, who.tenantId, id);
      if (!before) throw identityErrors.token_not_found();
      const now = await tx.now();
      const token = replacementOf(before, who, dto, now);
      const { row, text } = await this.tokens.create(tx, token);
      const usableUntil = hasOverlap ? new Date(now.getTime() + dto.overlap_seconds * 1_000) : null;
      const by = { by: row.id, usableUntil, actor: actorOf(who) };
      const replaced = (await this.tokens.replace(tx, who.tenantId, id, by))!;
      const after = { replaced, token: row };
      await appendAudit(tx, { action: 'token.rotate', resourceType: 'token', resourceName: id, before, after });
      return { ...row, token: text!, replaced };
    });
  }

  private isKnown(tx: Tx, id: string): Promise<boolean> {
    return tx.repository(ApiTokenEntity).existsBy({ tenant_id: tx.tenant, id });
  }

  private async reserve(tx: Tx, { tenantId, tenantName }: Principal): Promise<void> {
    const limit = quotasOf(this.config, tenantName).tokens;
    const countUsable = () => tx.repository(ApiTokenEntity).countBy({ tenant_id: tx.tenant, ...USABLE });
    await reserveQuota(tx, { tenantId, quota: 'tokens', limit }, countUsable);
  }
}

/** Malformed, and not a broken rule: one of the fields would have no effect. */
function assertOneLife({ expires_at, expires_in }: TokenLife): void {
  if (expires_at === undefined || expires_in === undefined) return;
  const message = 'expires_in and expires_at exclude each other';
  throw errors.invalid_parameter({ message, details: [{ field: 'expires_in', code: 'conflict', message }] });
}

function assertAllowed(who: Principal, token: TokenRequest, now: Date): void {
  const details = tokenObjections(who, token, now);
  if (details.length > 0) throw errors.validation_failed({ message: details[0]!.message, details });
}

/**
 * Call it under the lock of the quota, by which creations run one after another. People do not choose the names of the
 * tokens that the console makes for its playground.
 */
async function assertNameIsFree(tx: Tx, name: string): Promise<void> {
  const namesake = await tx.repository(ApiTokenEntity).findOne({
    select: { id: true },
    where: { tenant_id: tx.tenant, name, counts_for_owner: false, ...USABLE },
    // A token and its replacement have one name.
    order: { replaced_by: { direction: 'ASC', nulls: 'FIRST' } },
  });
  if (!namesake) return;
  throw identityErrors.token_exists({
    message: `Token ${namesake.id} of this tenant already has the name ${name}.`,
    extra: { token_id: namesake.id },
  });
}

/** @throws validation_failed (422), token_not_rotatable (409) */
function replacementOf(old: TokenRow, who: Principal, dto: RotateTokenDto, now: Date): NewToken {
  const { expiresAt, field } = namedExpiry(dto, now) ?? { expiresAt: sameLife(old, now), field: undefined };
  const scopes = old.scopes as NewToken['scopes'];
  const minters = rotatorsOf(old, who);
  assertAllowed(who, { scopes, minters, expiresAt, field }, now);
  assertRotatable(old);
  const made = { createdBy: actorOf(who), owner: old.owner, minters };
  return { tenantId: who.tenantId, name: old.name, scopes, expiresAt, ...made };
}

function assertRotatable({ id, state, replaced_by, created_by }: TokenRow): void {
  const extra = { token_id: id };
  if (replaced_by !== null)
    throw identityErrors.token_not_rotatable({
      message: `Token ${id} was already rotated: token ${replaced_by} replaces it.`,
      remediation: `Rotate token ${replaced_by}.`,
      extra: { ...extra, replaced_by },
    });
  if (state !== 'active')
    throw identityErrors.token_not_rotatable({
      message: `Token ${id} is ${state}.`,
      remediation: 'Create a new token.',
      extra,
    });
  if (created_by !== CREATED_BY_CONFIGURATION) return;
  throw identityErrors.token_not_rotatable({
    message: 'The bootstrap token is set by configuration.',
    remediation: 'Change SLIPWAY_BOOTSTRAP_TOKEN and restart the api, or create another token.',
    extra,
  });
}

function actorOf(who: Principal): string {
  return `${who.actor.type}:${who.actor.id}`;
}
