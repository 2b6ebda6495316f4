import { randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import {
  type Actor,
  checkToken,
  hashSecret,
  type Owner,
  parseToken,
  personOf,
  type TokenParts,
  tokenText,
} from '@slipway/contracts';
import { Database, newId, prepared, rowPage, type RowPage, type Tx } from '@slipway/platform-database';
import { type AccessCheck, errors, type Principal, type Scope } from '../index.js';
import type { BearerAuthenticator } from './request-guard.js';
import {
  FIND_TOKEN_OWNER,
  INSERT_TOKEN,
  LIST_TOKENS,
  LOCK_TOKEN,
  LOOK_UP_TOKEN,
  NOTE_TOKEN_USES,
  REPLACE_TOKEN,
  REQUIRE_AND_LOCK_TOKEN,
  REQUIRE_TOKEN,
  REVOKE_TOKEN,
  type TokenLookup,
  type TokenList,
  type TokenRow,
} from './token.query.js';

const FLUSH_EVERY_MS = 5_000;

/** Collects the uses of tokens and writes them together, outside of any request. */
@Injectable()
export class TokenUses implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('tokens');
  private readonly pending = new Map<string, Date>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  note(tokenId: string): void {
    this.pending.set(tokenId, new Date());
    if (this.timer) return;
    this.timer = setTimeout(() => void this.flush(), FLUSH_EVERY_MS);
    this.timer.unref();
  }

  /** Writes what is pending. A failure loses a time of use, which is not worth a retry. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.pending.size === 0) return;
    const uses = [...this.pending];
    this.pending.clear();
    try {
      await this.database.read('system', NOTE_TOKEN_USES, [uses.map(([id]) => id), uses.map(([, at]) => at)]);
    } catch (failure) {
      this.logger.warn(`could not store the last use of ${uses.length} tokens: ${String(failure)}`);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.flush();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }
}

/** From lowest to highest. Each scope includes those before it. */
export const SCOPES: readonly Scope[] = ['viewer', 'operator', 'admin'];

/** Returns the highest of the given scopes and every scope that it includes. */
export function withIncluded(scopes: Iterable<string>): ReadonlySet<Scope> {
  const highest = Math.max(-1, ...[...scopes].map((scope) => SCOPES.indexOf(scope as Scope)));
  return new Set(SCOPES.slice(0, highest + 1));
}

/**
 * Returns the scopes of which one must still be given when a mutation commits: the highest that the caller had, and
 * those that include it. The mutation may have relied on a scope beyond that of its route.
 */
export function scopesToKeep(scopes: ReadonlySet<Scope>): Scope[] {
  return SCOPES.slice(Math.max(...[...scopes].map((scope) => SCOPES.indexOf(scope))));
}

/**
 * SQL expression for the name of the tenant whose id is in a column, as the operator's file uses it. Empty if there is
 * no such tenant.
 */
export const tenantNameOf = (column: string): string =>
  `coalesce((select tenants.name from tenants where tenants.id = ${column}), '')`;

/** SQL, for the system: whether the installation has a second tenant. */
export const HAS_SECOND_TENANT = '(select count(*) > 1 from (select from tenants limit 2) two)';

const TENANT_NAME = prepared('auth-tenant-name', `select ${tenantNameOf('$1')} as name`);

/** Names never change and tenants are never removed, so one lookup is enough. */
const known = new Map<string, string>();
const MAX_KNOWN = 10_000;

/** Returns the name of the tenant with this id, or an empty text. Works in any transaction. */
export async function tenantName(tx: Tx, tenantId: string): Promise<string> {
  const name = known.get(tenantId);
  if (name !== undefined) return name;
  // A tenant's transaction cannot read the table of tenants, not even its own row.
  const [tenant] = await tx.lookAsSystem<{ name: string }>(TENANT_NAME, [tenantId]);
  if (!tenant?.name) return '';
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(tenantId, tenant.name);
  return tenant.name;
}

/**
 * Returns the owner of the credential with which an actor of a tenant acted, and the owners of the tokens that led to
 * it; undefined for a component of Slipway.
 */
export async function ownerOf(
  tx: Tx,
  tenantId: string,
  actor: Actor,
): Promise<Pick<Principal, 'owner' | 'minters'> | undefined> {
  if (actor.type === 'system') return undefined;
  const found =
    actor.type === 'token'
      ? await tx.one<Pick<Principal, 'owner' | 'minters'>>(FIND_TOKEN_OWNER, [tenantId, actor.id])
      : undefined;
  return found ?? { owner: personOf(actor), minters: [] };
}

/** Properties of a new token. The caller checks `expiresAt`. */
export interface NewToken {
  tenantId: string;
  name: string;
  scopes: Scope[];
  expiresAt: Date;
  /** The actor, as `type:id`. */
  createdBy: string;
  owner: Owner;
  /** Owners of the tokens that mint this one. */
  minters: readonly Owner[];
  /** Gateways limit it together with the other tokens of its owner, and not by itself. */
  countsForOwner?: boolean;
}

/** Makes, lists, revokes and recognises API tokens. */
@Injectable()
export class TokenService implements BearerAuthenticator {
  constructor(
    private readonly database: Database,
    private readonly uses: TokenUses,
  ) {}

  /**
   * Makes a token in the caller's transaction. Returns its row, and the text with the secret, which cannot be read
   * again.
   */
  async create(tx: Tx, token: NewToken): Promise<{ row: TokenRow; text: string }> {
    const made = makeToken();
    const scopes = [...new Set(token.scopes)];
    const values = [
      made.id,
      token.tenantId,
      token.name,
      scopes,
      hashSecret(made.secret),
      token.createdBy,
      token.owner.type,
      token.owner.id,
      JSON.stringify(token.minters),
      token.expiresAt,
      token.countsForOwner ?? false,
    ];
    const row = await tx.one<TokenRow>(INSERT_TOKEN, values);
    return { row: row as TokenRow, text: made.text };
  }

  /** Returns up to `limit` tokens of a tenant, newest first, after the one with the given id. */
  async list(
    tenantId: string,
    limit: number,
    { past, state, since, until, order = 'desc' }: TokenList = {},
  ): Promise<RowPage<TokenRow>> {
    const values = [tenantId, past ?? null, limit, state ?? null, since ?? null, until ?? null];
    return rowPage(await this.database.read<TokenRow>({ tenantId }, LIST_TOKENS[order], values));
  }

  /** Locks the token's row until the transaction ends, and returns it; undefined if the tenant has no such token. */
  async lock(tx: Tx, tenantId: string, id: string): Promise<TokenRow | undefined> {
    return tx.one<TokenRow>(LOCK_TOKEN, [tenantId, id]);
  }

  /** Revokes a token for good. A second call changes nothing. Returns undefined if the tenant has no such token. */
  async revoke(tx: Tx, tenantId: string, id: string, revokedBy: string): Promise<TokenRow | undefined> {
    return tx.one<TokenRow>(REVOKE_TOKEN, [tenantId, id, revokedBy]);
  }

  /**
   * Notes that another token replaces this one, and ends it at `usableUntil`, or at once if there is no such time.
   * Returns undefined if the tenant has no such token.
   */
  async replace(
    tx: Tx,
    tenantId: string,
    id: string,
    { by, usableUntil, actor }: { by: string; usableUntil: Date | null; actor: string },
  ): Promise<TokenRow | undefined> {
    const revokedBy = usableUntil === null ? actor : null;
    return tx.one<TokenRow>(REPLACE_TOKEN, [tenantId, id, by, usableUntil, revokedBy]);
  }

  accepts(credential: string): boolean {
    return credential.startsWith('slw_');
  }

  /** @throws unauthenticated (401) if the token is unknown, wrong or revoked, token_expired (401) */
  async authenticate(credential: string): Promise<Principal> {
    const parts = parseToken(credential);
    if (!parts) throw errors.unauthenticated();
    const row = await this.database.find<TokenLookup>('system', LOOK_UP_TOKEN, parts.id);
    const principal = principalOf(row, parts.secret);
    if (row!.is_use_due) this.uses.note(row!.key);
    return principal;
  }
}

/**
 * Returns the principal of a looked-up token if the secret is right.
 * @throws unauthenticated, token_expired (401)
 */
export function principalOf(row: TokenLookup | undefined, secret: string): Principal {
  const facts = row && { secretHash: row.secret_sha256, isRevoked: row.is_revoked, isExpired: row.is_expired };
  const verdict = checkToken(facts, secret);
  if (!row || verdict === 'wrong') throw errors.unauthenticated();
  if (verdict === 'expired') throw errors.token_expired();
  const scopes = withIncluded(row.scopes);
  return {
    tenantId: row.tenant_id,
    tenantName: row.tenant_name,
    isOperatorTenant: row.is_operator,
    actor: { type: 'token', id: row.key, name: row.name },
    scopes,
    owner: { type: row.owner_type, id: row.owner_id },
    minters: row.minters,
    access: [accessOfToken(row, scopes)],
  };
}

function accessOfToken({ key, secret_sha256 }: TokenLookup, scopes: ReadonlySet<Scope>): AccessCheck {
  const values = (isLocked: boolean) => [key, scopesToKeep(scopes), secret_sha256, isLocked];
  return { read: REQUIRE_TOKEN, lock: REQUIRE_AND_LOCK_TOKEN, values };
}

/** Makes a token: the id of its row, and the text that is shown once. The secret has 256 random bits. */
export function makeToken(): TokenParts & { text: string } {
  const parts = { id: newId('tok'), secret: randomBytes(32).toString('base64url') };
  return { ...parts, text: tokenText(parts) };
}
