import { isDeepStrictEqual } from 'node:util';
import { parseToken, checkToken } from '@slipway/contracts';
import type { NamedSql, QueryClient } from '@slipway/dataplane';
import { AddressRate } from '@slipway/platform-bounds';
import { expiredToken, missingToken, tokenUnverifiable, tooManyWrongTokens, wrongToken } from '../gateway.errors.js';

/** A token as it is kept on disk: its hash, never itself. */
export interface StoredToken {
  id: string;
  tenant_id: string;
  tenant_name: string;
  /** Hex. */
  secret_hash: string;
  scopes: string[];
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
  readonly isOperator: boolean;
  readonly expiresAt: number | null;
}

const READ_TOKENS: NamedSql = {
  name: 'gateway_read_tokens',
  text: `
    select k.id, k.tenant_id, t.name as tenant_name, encode(k.secret_sha256, 'hex') as secret_hash, k.scopes, t.is_operator,
      (extract(epoch from k.expires_at) * 1000)::float8 as expires_at
    from api_tokens k join tenants t on t.id = k.tenant_id where k.id = any($1) and k.revoked_at is null`,
};

/** As platform-http/auth notes uses: once a minute per token, and never waiting for another process that does the same. */
const NOTE_USES: NamedSql = {
  name: 'gateway_note_uses',
  text: `
    update api_tokens set last_used_at = now() where id in (
      select id from api_tokens where id = any($1) and (last_used_at is null or last_used_at < now() - interval '1 minute')
      order by id for update skip locked)`,
};

const BEARER = /^bearer +(\S+) *$/i;

/** A token that was not there is asked for again after this long, should the notification of its making be lost. */
const UNKNOWN_FOR_MS = 1_000;
const MAX_UNKNOWN = 10_000;
/** Of an address: queries for tokens that do not exist. Those that do are asked for once, and count for nothing. */
const WRONG_PER_MINUTE = 360;
/** Look-ups under way at once. Beyond that, unknown tokens must come back: known ones are never in this queue. */
const MAX_LOOKUPS = 64;

/**
 * The tokens this gateway has seen, so that Postgres is asked once per token and not at all while it is away. A revocation
 * arrives by notification; until Postgres can be asked, a token that was valid stays valid.
 *
 * An answer that was on its way when its token changed counts for nothing: `distrust` takes its look-up out of `lookups`, and one that
 * does not find itself there asks again.
 */
export class TokenBook {
  private readonly tokens = new Map<string, Token>();
  private readonly unknownUntil = new Map<string, number>();
  private readonly lookups = new Map<string, Promise<Token | undefined>>();
  /** Also those that are not in `lookups` any more. */
  private lookupsUnderWay = 0;
  private readonly wrong = new AddressRate(WRONG_PER_MINUTE);
  private usedIds = new Set<string>();

  constructor(
    private readonly db: QueryClient,
    private readonly onLearned: () => void,
  ) {}

  get size(): number {
    return this.tokens.size;
  }

  /**
   * Answers at once for known tokens; a promise only if Postgres must be asked.
   * @param address of the client
   * @throws GatewayError 401, 429 if the address has brought too many that do not exist, or 503 if the token cannot be checked
   */
  check(authorization: string | undefined, address: string): Token | Promise<Token> {
    if (!authorization) throw missingToken();
    const given = parseToken(BEARER.exec(authorization)?.[1] ?? '');
    if (!given) throw wrongToken();
    const known = this.tokens.get(given.id);
    if (known) return this.used(verified(known, given.secret));
    if ((this.unknownUntil.get(given.id) ?? 0) > Date.now()) throw wrongToken();
    return this.firstLookUp(given.id, address).then((token) => this.used(verified(token, given.secret)));
  }

  /** These tokens, or with null any, have changed just now: nothing that was read before is true of those that are not known. */
  distrust(ids: readonly string[] | null): void {
    for (const id of ids ?? this.unknownUntil.keys()) this.unknownUntil.delete(id);
    for (const id of ids ?? this.lookups.keys()) this.lookups.delete(id);
  }

  /**
   * Reads the given tokens again, or with null every known one; those revoked or deleted are forgotten.
   * Returns whether anything changed. Throws when Postgres does not answer.
   */
  async refresh(ids: readonly string[] | null): Promise<boolean> {
    this.distrust(ids);
    const known = (ids ?? [...this.tokens.keys()]).filter((id) => this.tokens.has(id));
    if (known.length === 0) return false;
    const rows = await this.db.query<StoredToken>(READ_TOKENS, [known]);
    const found = new Set(rows.map((row) => row.id));
    let hasChanged = false;
    for (const id of known) if (!found.has(id)) hasChanged = this.tokens.delete(id) || hasChanged;
    for (const row of rows) {
      const token = tokenOf(row);
      hasChanged ||= !isDeepStrictEqual(this.tokens.get(row.id), token);
      this.tokens.set(row.id, token);
    }
    return hasChanged;
  }

  /** Tells Postgres which tokens were in use since the last time. */
  async noteUses(): Promise<void> {
    if (this.usedIds.size === 0) return;
    const ids = [...this.usedIds];
    this.usedIds = new Set();
    await this.db.query(NOTE_USES, [ids]);
  }

  load(stored: readonly StoredToken[]): void {
    for (const row of stored) this.tokens.set(row.id, tokenOf(row));
  }

  /** What goes to disk. */
  stored(): StoredToken[] {
    return [...this.tokens.values()].map((token) => ({
      id: token.id,
      tenant_id: token.tenantId,
      tenant_name: token.tenantName,
      secret_hash: token.secretHash.toString('hex'),
      scopes: [...token.scopes],
      is_operator: token.isOperator,
      expires_at: token.expiresAt,
    }));
  }

  private used(token: Token): Token {
    this.usedIds.add(token.id);
    return token;
  }

  private firstLookUp(id: string, address: string): Promise<Token | undefined> {
    const running = this.lookups.get(id);
    if (running) return running;
    if (this.lookupsUnderWay >= MAX_LOOKUPS) throw tokenUnverifiable();
    const waitSeconds = this.wrong.take(address);
    if (waitSeconds !== undefined) throw tooManyWrongTokens(waitSeconds);
    const failed = (error: unknown): never => {
      this.wrong.giveBack(address);
      throw error;
    };
    return this.lookUp(id).then((token) => {
      if (token) this.wrong.giveBack(address);
      return token;
    }, failed);
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
    this.lookupsUnderWay += 1;
    try {
      return (await this.db.query<StoredToken>(READ_TOKENS, [[id]]))[0];
    } catch {
      throw tokenUnverifiable();
    } finally {
      this.lookupsUnderWay -= 1;
    }
  }

  private learned(id: string, row: StoredToken | undefined): Token | undefined {
    if (!row) {
      if (this.unknownUntil.size >= MAX_UNKNOWN) this.unknownUntil.clear();
      this.unknownUntil.set(id, Date.now() + UNKNOWN_FOR_MS);
      return undefined;
    }
    const token = tokenOf(row);
    this.tokens.set(id, token);
    this.onLearned();
    return token;
  }
}

function tokenOf(row: StoredToken): Token {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    tenantName: row.tenant_name,
    secretHash: Buffer.from(row.secret_hash, 'hex'),
    scopes: row.scopes,
    isOperator: row.is_operator,
    expiresAt: row.expires_at,
  };
}

/** Only tokens that were not revoked are in the book. */
function verified(token: Token | undefined, secret: string): Token {
  const facts = token && {
    secretHash: token.secretHash,
    isRevoked: false,
    isExpired: token.expiresAt !== null && token.expiresAt <= Date.now(),
  };
  const result = checkToken(facts, secret);
  if (result === 'expired') throw expiredToken();
  if (result === 'wrong') throw wrongToken();
  return token as Token;
}
