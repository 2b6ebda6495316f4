import { Inject, Injectable } from '@nestjs/common';
import { type Actor, actorText, systemActor } from '@slipway/contracts';
import { FairShare } from '@slipway/platform-bounds';
import { CONFIG, type Config, type QuotaConfig } from '@slipway/platform-config';
import { Database, digestOf, newId, prepared, type Tx, type TxScope } from '@slipway/platform-database';
import {
  EarlierAnswer,
  type IdempotencyClaim,
  errors,
  type Principal,
  rehearsal,
  type Reply,
  requestContext,
  SlipwayError,
} from '@slipway/platform-http';
import { accessOf, holdAccess, refusalIn, refusalOf, requireAccess } from '@slipway/platform-http/auth';
import { StoredQuota } from '../quotas/index.js';
import {
  ClaimedKey,
  findAnswer,
  storeAnswer,
  StoredAnswer,
  takeKey,
  type TenantScope,
  valuesOf,
} from './idempotency-keys.js';

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

/** A request that changes something. */
export interface MutationRequest {
  principal: Pick<Principal, 'tenantId' | 'access'> & Partial<Pick<Principal, 'tenantName'>>;
  /**
   * Whether the caller's access must not end before the commit is durable: for mutations that give access or decide for
   * a person. Others only read it again.
   */
  locksAccess?: boolean;
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
   *
   * The first mutation of a request obeys its `Idempotency-Key`: it stores what `change` returns, which must be the
   * answer to the client, and a repeat never returns from here (`EarlierAnswer`).
   * @throws idempotency_key_reused (422), quota_exceeded (429)
   */
  run<T>(request: MutationRequest, change: (tx: Tx) => Promise<T>): Promise<T> {
    const { principal } = request;
    const scope = { tenantId: principal.tenantId };
    const answering = this.answering(request, change);
    const once = async (tx: Tx) => {
      if (request.locksAccess) holdAccess(tx, principal);
      const answer = await answering(tx);
      // A repeat adds nothing, so there is nothing to check.
      if (!(answer instanceof EarlierAnswer)) await this.stored.assertWithin(tx, tenantNameOf(principal));
      return answer;
    };
    const transact = () => this.transact(scope, request, once);
    const { changedResource } = requestContext();
    return orEarlier(changedResource === undefined ? transact() : this.resources.run(changedResource, 1, transact));
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
    const answering = this.answering(request, change);
    return orEarlier(this.resources.run('system', 1, () => this.transact('system', request, answering)));
  }

  /**
   * Claims a key for work that takes longer than a transaction. `complete` the claim in the transaction of the effect,
   * or `release` it if there is none.
   * @param claim has an empty fingerprint if the fingerprint is known only at the end of the body
   * @throws idempotency_in_progress (409), idempotency_key_reused (422), quota_exceeded (429)
   */
  async hold(scope: TenantScope, claim: IdempotencyClaim): Promise<ClaimedKey | StoredAnswer> {
    const found = await this.transact(scope, { principal: scope }, async (tx) => {
      const taken = await takeKey(tx, scope, claim, this.leaseSeconds);
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

  /**
   * Finds the answer that the caller of the current request got for the same one before. Most requests have none, so only
   * a caller that gets one has its access read again here; the mutation does so for all others.
   */
  async earlierAnswer(claim: IdempotencyClaim): Promise<Reply | undefined> {
    const { principal } = requestContext();
    if (!principal) return undefined;
    const scope = { tenantId: principal.tenantId };
    const found = await findAnswer(this.database, scope, claim);
    // Another request with the key is refused after its own checks.
    if (!found?.isFor(claim.fingerprint)) return undefined;
    await this.transact(scope, { principal }, async () => undefined);
    return found.replay(claim.fingerprint);
  }

  /** Takes the key of the request, if it has one that no code has taken, and returns `change` with the duties of a key. */
  private answering<T>(
    { principal, isDryRun }: MutationRequest,
    change: (tx: Tx) => Promise<T>,
  ): (tx: Tx) => Promise<T | EarlierAnswer> {
    const claim = requestContext().keyed?.take();
    if (!claim) return change;
    const scope = { tenantId: principal.tenantId };
    const { fingerprint } = claim;
    return async (tx) => {
      // A rehearsal claims the key too, and gives it back: it must be refused if the request would be.
      const kept = await takeKey(tx, scope, claim, this.leaseSeconds);
      if (kept instanceof StoredAnswer && isDryRun && kept.isFor(fingerprint)) return new EarlierAnswer(REPEATED);
      if (kept instanceof StoredAnswer) return new EarlierAnswer(kept.replay(fingerprint));
      const answer = await change(tx);
      if (!isDryRun) await storeAnswer(tx, valuesOf(scope, claim), kept, fingerprint, answer);
      return answer;
    };
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
}

/** The rehearsal of a request that was made before with the same key. */
const REPEATED = rehearsal('return the response to the first request with this Idempotency-Key');

/** A repeat rolls nothing back, because its access is checked at the commit. So its answer is thrown only now. */
async function orEarlier<T>(answer: Promise<T | EarlierAnswer>): Promise<T> {
  const found = await answer;
  if (found instanceof EarlierAnswer) throw found;
  return found;
}

/** The quotas of a tenant are found by its name, which a request knows. */
function tenantNameOf(principal: MutationRequest['principal']): string {
  return principal.tenantName ?? requestContext().principal?.tenantName ?? '';
}
