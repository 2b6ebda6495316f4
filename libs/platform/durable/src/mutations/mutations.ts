import { Inject, Injectable } from '@nestjs/common';
import { type Actor, actorText, systemActor } from '@slipway/contracts';
import { FairShare } from '@slipway/platform-bounds';
import { CONFIG, type Config, type QuotaConfig } from '@slipway/platform-config';
import { Database, digestOf, locking, newId, prepared, type Tx, type TxScope } from '@slipway/platform-database';
import {
  errors,
  type IdempotencyClaim,
  type Principal,
  RawJson,
  rawJson,
  reply,
  type Reply,
  requestContext,
  SlipwayError,
} from '@slipway/platform-http';
import { accessOf, holdAccess, refusalIn, refusalOf, requireAccess } from '@slipway/platform-http/auth';
import { StoredQuota } from '../quotas/index.js';

export interface AuditEntry {
  /** Resource and verb, such as `rollout.create` or `plan.approve`. */
  action: string;
  resourceType: string;
  resourceName: string;
  /** The resource before and after the mutation. Only digests are stored. */
  before?: unknown;
  after?: unknown;
  /** The actor, if there is no request that has one (a worker, a recurring job). */
  actor?: Actor;
}

const INSERT_AUDIT = prepared(
  'audit-insert',
  `insert into audit_log (id, tenant_id, actor, action, resource_type, resource_name, request_id, before_digest, after_digest)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

/** Writes the audit row of a mutation in the mutation's own transaction. Actor and request id come from the request. */
export async function appendAudit(tx: Tx, entry: AuditEntry): Promise<void> {
  const request = requestContext();
  const actor = entry.actor ?? request.principal?.actor ?? systemActor('slipway');
  await tx.query(INSERT_AUDIT, [
    newId('aud'),
    tx.tenant,
    actorText(actor),
    entry.action,
    entry.resourceType,
    entry.resourceName,
    request.requestId || null,
    digest(entry.before),
    digest(entry.after),
  ]);
}

function digest(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return digestOf(value);
}

/** A mutation acts for one tenant; keys are never shared between tenants. */
type TenantScope = Exclude<TxScope, 'system'>;

interface KeyRow {
  fingerprint: string;
  /** Text, because it is compared for equality: a JavaScript date would lose microseconds. */
  claimedUntil: string;
  isClaimed: boolean;
  secondsLeft: number;
  status: number | null;
  headers: Record<string, string> | null;
  answer: string | null;
}

const KEY = `tenant_id = $1 and method = $2 and path = $3 and key = $4`;

/*
 * The insert waits for another transaction that inserts the same key, and inserts nothing if that one commits. The
 * conflicting row is then read with a statement of its own, whose snapshot sees it.
 */
const INSERT = locking(
  'idempotency_key',
  prepared(
    'idempotency-insert',
    `insert into idempotency_keys (tenant_id, method, path, key, fingerprint, claimed_until)
   values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))
   on conflict do nothing returning claimed_until::text as "claimedUntil"`,
  ),
  (values) => [values.slice(0, 4).join('/')],
);
const FIND = locking(
  'idempotency_key',
  prepared(
    'idempotency-find',
    `select fingerprint, claimed_until::text as "claimedUntil", claimed_until > now() as "isClaimed",
     greatest(1, ceil(extract(epoch from claimed_until - now())))::int as "secondsLeft", status, headers, answer::text as answer
   from idempotency_keys where ${KEY} for update`,
  ),
  (values) => [values.slice(0, 4).join('/')],
);
/**
 * Takes over the claim of a dead request, or renews a held one. In both cases it changes only the claim that the caller
 * has seen.
 */
const RECLAIM = prepared(
  'idempotency-reclaim',
  `update idempotency_keys set claimed_until = now() + make_interval(secs => $6), fingerprint = $7
   where ${KEY} and claimed_until = $5::timestamptz and answer is null returning claimed_until::text as "claimedUntil"`,
);
const COMPLETE = prepared(
  'idempotency-complete',
  `update idempotency_keys set fingerprint = $6, status = $7, headers = $8, answer = $9
   where ${KEY} and claimed_until = $5::timestamptz and answer is null returning key`,
);
const RELEASE = prepared(
  'idempotency-release',
  `delete from idempotency_keys where ${KEY} and claimed_until = $5::timestamptz and answer is null`,
);

/** The answer that an earlier request with the key got. */
export class StoredAnswer {
  constructor(
    private readonly fingerprint: string,
    private readonly original: Reply,
  ) {}

  /**
   * The original answer, marked as a replay.
   * @throws idempotency_key_reused (422) if this is another request
   */
  replay(fingerprint: string): Reply {
    if (fingerprint !== this.fingerprint) throw errors.idempotency_key_reused();
    const { status, body, headers } = this.original;
    return reply(status, body, { ...headers, 'idempotency-replayed': 'true' });
  }
}

/** A key that is held while its request is processed. It expires by itself if this process dies. */
export class ClaimedKey {
  private readonly timer: NodeJS.Timeout;
  private renewal: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly claim: { values: unknown[]; fingerprint: string },
    private claimedUntil: string,
    private readonly scope: TenantScope,
    private readonly leaseSeconds: number,
  ) {
    this.timer = setInterval(() => (this.renewal = this.renew()), (leaseSeconds * 1_000) / 3).unref();
  }

  /**
   * Stores the answer in the transaction of the effect, so that both are committed or neither.
   * @param fingerprint of the request; the fingerprint of a streamed body is known only now
   * @throws idempotency_in_progress (409) if the claim expired and another request has taken it over
   */
  async complete(tx: Tx, answer: Reply, fingerprint = this.claim.fingerprint): Promise<void> {
    await this.settle();
    if (!(await store(tx, this.claim.values, this.claimedUntil, fingerprint, answer))) throw inProgress(1);
  }

  /** Gives the key back, because a refused request stores none. Does nothing after the answer was stored. */
  async release(): Promise<void> {
    await this.settle();
    await this.database.tx(this.scope, (tx) => tx.query(RELEASE, [...this.claim.values, this.claimedUntil]));
  }

  /**
   * Stops the renewal of the key. Call it before the transaction that completes the key. A renewal in progress has a
   * connection of its own, and a transaction that waits for the renewal may hold the last connection.
   */
  async settle(): Promise<void> {
    clearInterval(this.timer);
    await this.renewal;
  }

  private async renew(): Promise<void> {
    const values = [...this.claim.values, this.claimedUntil, this.leaseSeconds, this.claim.fingerprint];
    // During an outage of Postgres no other request can take the key over either. The store of the answer checks
    // whether it was kept.
    const row = await this.database
      .tx(this.scope, (tx) => tx.one<{ claimedUntil: string }>(RECLAIM, values))
      .catch(() => undefined);
    if (row) this.claimedUntil = row.claimedUntil;
  }
}

/** A request that changes something. */
export interface MutationRequest {
  principal: Pick<Principal, 'tenantId' | 'access'> & Partial<Pick<Principal, 'tenantName'>>;
  /**
   * Whether the caller's access must not end before the commit is durable: for mutations that give access or decide for
   * a person. Others only read it again.
   */
  locksAccess?: boolean;
  idempotency?: IdempotencyClaim;
  /** Makes every check and every write, returns the answer, and rolls back. */
  isDryRun?: boolean;
}

/**
 * Opens the transaction of every mutation, as the tenant of the caller. Later requests with the same `Idempotency-Key`
 * get the answer of the first; a refused request leaves its key unused.
 *
 * Each transaction reads the access of its caller again before it commits, also the access of a caller whose body took
 * minutes: what a revoked token, mapping or session has begun changes nothing.
 */
@Injectable()
export class Mutations {
  private readonly leaseSeconds: number;
  private readonly stored: StoredQuota;
  /**
   * Changes of one resource wait for its lock here, one at a time, and not in Postgres, where each would hold a
   * connection.
   */
  private readonly resources = new FairShare(
    { total: Infinity, alone: 1, contended: 1, mostWaiting: 1_000, waitMs: 15_000 },
    () =>
      errors.unavailable({
        message: 'Too many changes of this resource are waiting.',
        remediation: 'Change a resource less often, and retry after the time given in Retry-After.',
      }),
  );

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'leaseSeconds'> & QuotaConfig,
    private readonly database: Database,
  ) {
    this.leaseSeconds = config.leaseSeconds;
    this.stored = new StoredQuota(config, database);
  }

  /**
   * Runs `change` in one transaction and commits it. An exception rolls back. Requests with one key wait for each other
   * in Postgres, and those that change one resource in this process. The quotas of what the tenant stores are checked
   * last, for everything that the transaction has added.
   * @throws idempotency_key_reused (422), quota_exceeded (429)
   */
  run(
    request: MutationRequest & { idempotency: IdempotencyClaim | undefined },
    change: (tx: Tx) => Promise<Reply>,
  ): Promise<Reply>;
  run<T>(request: Omit<MutationRequest, 'idempotency'>, change: (tx: Tx) => Promise<T>): Promise<T>;
  run(request: MutationRequest, change: (tx: Tx) => Promise<unknown>): Promise<unknown> {
    const { principal, idempotency } = request;
    const scope = { tenantId: principal.tenantId };
    const once = async (tx: Tx) => {
      if (request.locksAccess) holdAccess(tx, principal);
      const kept = idempotency && (await this.take(tx, scope, idempotency));
      // It adds nothing, so there is nothing to check.
      if (kept instanceof StoredAnswer) return kept.replay(idempotency!.fingerprint);
      const answer = await change(tx);
      if (idempotency) await store(tx, valuesOf(scope, idempotency), kept!, idempotency.fingerprint, answer as Reply);
      await this.stored.assertWithin(tx, tenantNameOf(principal));
      return answer;
    };
    const transact = () => this.transact(scope, request, once);
    const { changedResource } = requestContext();
    return changedResource === undefined ? transact() : this.resources.run(changedResource, 1, transact);
  }

  /**
   * Like `run`, for the few mutations that write rows of several tenants: as the system. They hold nothing of the access
   * in advance, because they are what ends it: each takes the lock that others hold (`AccessCheck.hold`).
   * They lock the same rows, so they run one at a time, and do not take the connections that the work of the process
   * needs.
   */
  runAsSystem<T>(
    request: Pick<MutationRequest, 'principal' | 'locksAccess'>,
    change: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    return this.resources.run('system', 1, () => this.transact('system', request, change));
  }

  /**
   * Claims a key for work that takes longer than a transaction. `complete` the claim in the transaction of the effect,
   * or `release` it if there is none.
   * @param claim has an empty fingerprint if the fingerprint is known only at the end of the body
   * @throws idempotency_in_progress (409), idempotency_key_reused (422), quota_exceeded (429)
   */
  async hold(scope: TenantScope, claim: IdempotencyClaim): Promise<ClaimedKey | StoredAnswer> {
    const found = await this.transact(scope, { principal: scope }, async (tx) => {
      const taken = await this.take(tx, scope, claim);
      await this.stored.assertWithin(tx, tenantNameOf(scope));
      return taken;
    });
    if (found instanceof StoredAnswer) return found;
    return new ClaimedKey(
      this.database,
      { values: valuesOf(scope, claim), fingerprint: claim.fingerprint },
      found,
      scope,
      this.leaseSeconds,
    );
  }

  /** @throws unauthenticated, token_expired (401), or a 403 if the caller has lost its access */
  private async transact<T>(
    scope: TxScope,
    { principal, locksAccess = false, isDryRun }: MutationRequest,
    change: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    const access = accessOf(principal);
    let refused: Promise<SlipwayError | undefined> | undefined;
    const work = async (tx: Tx): Promise<T> => {
      try {
        const value = await change(tx);
        requireAccess(tx, access, locksAccess);
        return value;
      } catch (failure) {
        if (failure instanceof SlipwayError) refused = refusalIn(tx, access);
        throw failure;
      }
    };
    try {
      return await this.database.tx(scope, work, { dryRun: isDryRun });
    } catch (failure) {
      throw refusalOf(failure) ?? (await refused) ?? failure;
    }
  }

  /** Returns the time until which the key is now claimed, or the stored answer. */
  private async take(tx: Tx, scope: TenantScope, claim: IdempotencyClaim): Promise<string | StoredAnswer> {
    const values = valuesOf(scope, claim);
    const inserted = await tx.one<{ claimedUntil: string }>(INSERT, [...values, claim.fingerprint, this.leaseSeconds]);
    if (inserted) return inserted.claimedUntil;
    const row = await tx.one<KeyRow>(FIND, values);
    // The request that held the key was refused between the two statements.
    if (!row) throw inProgress(1);
    if (row.answer !== null)
      return new StoredAnswer(row.fingerprint, reply(row.status!, rawJson(row.answer), row.headers ?? {}));
    if (row.isClaimed && row.fingerprint !== '' && claim.fingerprint !== '' && row.fingerprint !== claim.fingerprint)
      throw errors.idempotency_key_reused();
    if (row.isClaimed) throw inProgress(row.secondsLeft);
    const taken = await tx.one<{ claimedUntil: string }>(RECLAIM, [
      ...values,
      row.claimedUntil,
      this.leaseSeconds,
      claim.fingerprint,
    ]);
    return taken!.claimedUntil;
  }
}

/**
 * Adds a secret to the answer of a mutation. The stored answer has none, so a replay stays as it is.
 * @param secret the fields with the secret
 */
export function withSecret(answer: Reply, secret: object): Reply {
  const { status, body, headers } = answer;
  if (headers['idempotency-replayed'] !== undefined) return answer;
  return reply(status, { ...(body as object), ...secret }, headers);
}

async function store(
  tx: Tx,
  values: unknown[],
  claimedUntil: string,
  fingerprint: string,
  answer: Reply,
): Promise<boolean> {
  const { status, headers, body } = answer;
  const text = body instanceof RawJson ? body.text : JSON.stringify(body ?? {});
  const stored = await tx.one(COMPLETE, [...values, claimedUntil, fingerprint, status, JSON.stringify(headers), text]);
  return stored !== undefined;
}

/** The quotas of a tenant are found by its name, which a request knows. */
function tenantNameOf(principal: MutationRequest['principal']): string {
  return principal.tenantName ?? requestContext().principal?.tenantName ?? '';
}

function valuesOf({ tenantId }: TenantScope, { method, path, key }: IdempotencyClaim): unknown[] {
  return [tenantId, method, path, key];
}

/** Most requests end long before their lease, so a client need not wait for all of it. */
function inProgress(secondsLeft: number): Error {
  return errors.idempotency_in_progress({ headers: { 'retry-after': String(Math.min(secondsLeft, 5)) } });
}
