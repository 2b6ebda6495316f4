import { isDeepStrictEqual } from 'node:util';
import { parseToken, checkToken } from '@slipway/contracts';
import type { NamedSql, QueryClient } from '@slipway/dataplane';
import {
  type CredentialAttempt,
  AttemptQueue,
  FailedAttempts,
  LOOK_UPS,
  type FailureLimits,
} from '@slipway/platform-bounds';
import type { Clock } from '../postgres/database-clock.js';
import { expiredToken, missingToken, tokenUnverifiable, tooManyWrongTokens, wrongToken } from '../gateway.errors.js';
import { TokenEnds } from './token-ends.js';

/** A token as it is kept on disk: its hash, never the token itself. */
export interface StoredToken {
  id: string;
  tenant_id: string;
  tenant_name: string;
  /** Hex. */
  secret_hash: string;
  scopes: string[];
  /** Absent in files of previous releases, as is `counts_for_owner`. */
  owner?: string;
  /** Whether it is limited together with the other tokens of its owner. */
  counts_for_owner?: boolean;
  /** Whether its tenant is the operator's. */
  is_operator: boolean;
  /** Milliseconds since the epoch, or null. */
  expires_at: number | null;
}

export interface Token {
  readonly id: string;
  readonly tenantId: string;
  readonly tenantName: string;
  readonly secretHash: Buffer;
  readonly scopes: readonly string[];
  readonly owner: string;
  /** Its owner and tenant, as a text that only the tokens of this owner have. */
  readonly ownerKey: string;
  /** Whether it is limited together with the other tokens of its owner, and not by itself. */
  readonly countsForOwner: boolean;
  readonly isOperator: boolean;
  readonly expiresAt: number | null;
}

const READ_TOKENS: NamedSql = {
  name: 'gateway_read_tokens',
  text: `
    select k.id, k.tenant_id, t.name as tenant_name, encode(k.secret_sha256, 'hex') as secret_hash, k.scopes, t.is_operator,
      k.owner_type || ':' || k.owner_id as owner, k.counts_for_owner, (extract(epoch from k.expires_at) * 1000)::float8 as expires_at
    from api_tokens k join tenants t on t.id = k.tenant_id where k.id = any($1) and k.revoked_at is null`,
};

/** Notes uses as platform-http/auth does: once a minute per token, without waiting for another process doing it. */
const NOTE_USES: NamedSql = {
  name: 'gateway_note_uses',
  text: `
    update api_tokens set last_used_at = now() where id in (
      select id from api_tokens where id = any($1) and (last_used_at is null or last_used_at < now() - interval '1 minute')
      order by id for update skip locked)`,
};

const BEARER = /^bearer +(\S+) *$/i;

/** A token that was not found is looked up again after this long, in case the notification of its creation was lost. */
const UNKNOWN_FOR_MS = 1_000;
const MAX_UNKNOWN = 10_000;
/** Tokens that do not exist or have another secret, in a minute. After that, the refusal asks to slow down. */
const FAILURES: FailureLimits = { addressPerMinute: 360, claimPerMinute: 60 };

/**
 * The tokens that this gateway has seen. Postgres is queried once per token, and not at all while it is down. A
 * revocation arrives by notification. Until Postgres can be queried, a token that was valid stays valid.
 *
 * A row that was being read when its token changed is not used: `distrust` removes its lookup from `lookups`, and a
 * lookup that does not find itself there reads again.
 */
export class TokenBook {
  private readonly tokens = new Map<string, Token>();
  private readonly unknownUntil = new Map<string, number>();
  private readonly lookups = new Map<string, Promise<Token | undefined>>();
  /** For tokens that are not in the book. Known tokens need no look-up. */
  private readonly attempts = new AttemptQueue(LOOK_UPS, tokenUnverifiable);
  private readonly failures = new FailedAttempts(FAILURES);
  /** Ids that are read together: those of this turn of the event loop. */
  private gathering: { ids: Set<string>; rows: Promise<Map<string, StoredToken>> } | undefined;
  /** Requests that no engine has yet, and what ends them. */
  readonly ends: TokenEnds;
  private usedIds = new Set<string>();

  constructor(
    private readonly db: QueryClient,
    private readonly onLearned: () => void,
    private readonly clock: Clock,
  ) {
    this.ends = new TokenEnds(clock, (id) => this.tokens.get(id));
  }

  get size(): number {
    return this.tokens.size;
  }

  /**
   * Returns known tokens at once, and a promise only if Postgres must be queried.
   * @param address of the client
   * @throws GatewayError 401, 429 for a wrong token after too many of this address or for this id, or 503 if the token
   * cannot be checked
   */
  check(authorization: string | undefined, address: string): Token | Promise<Token> {
    const credentials = BEARER.exec(authorization ?? '')?.[1];
    // A token in another scheme may be a good one, so it is not called invalid.
    if (credentials === undefined) throw missingToken();
    const given = parseToken(credentials);
    if (!given) throw wrongToken();
    const attempt = { address, claim: given.id };
    const known = this.tokens.get(given.id);
    if (known) return this.used(this.verified(known, given.secret, attempt));
    if ((this.unknownUntil.get(given.id) ?? 0) > performance.now()) throw wrongToken();
    return this.attempts.run(attempt, async () => {
      const token = this.tokens.get(given.id) ?? (await this.lookUp(given.id));
      return this.used(this.verified(token, given.secret, attempt));
    });
  }

  /** These tokens, or any if null, have just changed: what was read earlier about unknown tokens is no longer valid. */
  distrust(ids: readonly string[] | null): void {
    for (const id of ids ?? this.unknownUntil.keys()) this.unknownUntil.delete(id);
    for (const id of ids ?? this.lookups.keys()) this.lookups.delete(id);
  }

  /**
   * Reads the given tokens again, or every known one if null; those revoked or deleted are forgotten.
   * Returns whether anything changed.
   * @throws Error if Postgres does not answer
   */
  async refresh(ids: readonly string[] | null): Promise<boolean> {
    this.distrust(ids);
    const known = (ids ?? [...this.tokens.keys()]).filter((id) => this.tokens.has(id));
    if (known.length === 0) return false;
    const rows = await this.db.query<StoredToken>(READ_TOKENS, [known]);
    const found = new Set(rows.map((row) => row.id));
    let hasChanged = false;
    for (const id of known) if (!found.has(id)) hasChanged = this.forget(id) || hasChanged;
    for (const row of rows) hasChanged = this.replace(row.id, tokenOf(row)) || hasChanged;
    return hasChanged;
  }

  /** Reports to Postgres which tokens were used since the last call. */
  async noteUses(): Promise<void> {
    if (this.usedIds.size === 0) return;
    const ids = [...this.usedIds];
    this.usedIds = new Set();
    await this.db.query(NOTE_USES, [ids]);
  }

  load(stored: readonly StoredToken[]): void {
    for (const row of stored) this.tokens.set(row.id, tokenOf(row));
  }

  /** Returns the tokens in the form for the disk. */
  stored(): StoredToken[] {
    return [...this.tokens.values()].map((token) => ({
      id: token.id,
      tenant_id: token.tenantId,
      tenant_name: token.tenantName,
      secret_hash: token.secretHash.toString('hex'),
      scopes: [...token.scopes],
      owner: token.owner,
      counts_for_owner: token.countsForOwner,
      is_operator: token.isOperator,
      expires_at: token.expiresAt,
    }));
  }

  private forget(id: string): boolean {
    const before = this.tokens.get(id);
    if (!before) return false;
    this.tokens.delete(id);
    this.ends.changed(id, before);
    return true;
  }

  private replace(id: string, token: Token): boolean {
    const before = this.tokens.get(id);
    if (isDeepStrictEqual(before, token)) return false;
    this.tokens.set(id, token);
    if (before) this.ends.changed(id, before);
    return true;
  }

  private used(token: Token): Token {
    this.usedIds.add(token.id);
    return token;
  }

  /** Checks secret and expiry; tokens in the book are never revoked. @throws GatewayError 401 or 429 */
  private verified(token: Token | undefined, secret: string, { address, claim }: CredentialAttempt): Token {
    const facts = token && {
      secretHash: token.secretHash,
      isRevoked: false,
      isExpired: token.expiresAt !== null && token.expiresAt <= this.clock.now(),
    };
    const result = checkToken(facts, secret);
    if (result === 'expired') throw expiredToken();
    if (result === 'valid') return token as Token;
    const waitSeconds = this.failures.note(address, claim);
    throw waitSeconds === undefined ? wrongToken() : tooManyWrongTokens(waitSeconds);
  }

  private lookUp(id: string): Promise<Token | undefined> {
    const newer = this.lookups.get(id);
    if (newer) return newer;
    const lookup: Promise<Token | undefined> = this.read(id)
      .then((row) => (this.lookups.get(id) === lookup ? this.learned(id, row) : this.lookUp(id)))
      .finally(() => {
        if (this.lookups.get(id) === lookup) this.lookups.delete(id);
      });
    this.lookups.set(id, lookup);
    return lookup;
  }

  private async read(id: string): Promise<StoredToken | undefined> {
    this.gathering ??= this.gather();
    const { ids, rows } = this.gathering;
    ids.add(id);
    return (await rows).get(id);
  }

  private gather(): NonNullable<typeof this.gathering> {
    const ids = new Set<string>();
    const rows = Promise.resolve().then(async () => {
      this.gathering = undefined;
      const found = await this.db.query<StoredToken>(READ_TOKENS, [[...ids]]).catch(() => {
        throw tokenUnverifiable();
      });
      return new Map(found.map((row) => [row.id, row]));
    });
    return { ids, rows };
  }

  private learned(id: string, row: StoredToken | undefined): Token | undefined {
    if (!row) {
      if (this.unknownUntil.size >= MAX_UNKNOWN) this.unknownUntil.clear();
      this.unknownUntil.set(id, performance.now() + UNKNOWN_FOR_MS);
      return undefined;
    }
    const token = tokenOf(row);
    this.tokens.set(id, token);
    this.onLearned();
    return token;
  }
}

function tokenOf(row: StoredToken): Token {
  const owner = row.owner ?? `token:${row.id}`;
  return {
    id: row.id,
    tenantId: row.tenant_id,
    tenantName: row.tenant_name,
    secretHash: Buffer.from(row.secret_hash, 'hex'),
    scopes: row.scopes,
    owner,
    ownerKey: `${row.tenant_id} ${owner}`,
    countsForOwner: row.counts_for_owner ?? false,
    isOperator: row.is_operator,
    expiresAt: row.expires_at,
  };
}
