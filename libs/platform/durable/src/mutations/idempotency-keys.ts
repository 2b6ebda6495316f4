import { type Database, locking, lookup, prepared, type Tx, type TxScope } from '@slipway/platform-database';
import {
  defaultStatusOf,
  errors,
  type IdempotencyClaim,
  RawJson,
  rawJson,
  Reply,
  reply,
  requestContext,
  type Warning,
} from '@slipway/platform-http';

/** A mutation acts for one tenant; keys are never shared between tenants. */
export type TenantScope = Exclude<TxScope, 'system'>;

interface AnswerRow {
  fingerprint: string;
  status: number | null;
  headers: Record<string, string> | null;
  answer: string | null;
}

interface KeyRow extends AnswerRow {
  /** Text, because it is compared for equality: a JavaScript date would lose microseconds. */
  claimedUntil: string;
  isClaimed: boolean;
  secondsLeft: number;
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
const FIND_ANSWER = lookup(
  'idempotency-answer',
  `select fingerprint, status, headers, answer::text as answer from idempotency_keys where ${KEY} and answer is not null`,
);
/** Keys of requests for a resource that is named by its path, and of those for what is under it. */
const FORGET_KEYS = prepared(
  'idempotency-forget',
  `delete from idempotency_keys where tenant_id = $1 and (path = $2 or starts_with(path, $2 || '/'))`,
);

/** The answer that an earlier request with the key got. */
export class StoredAnswer {
  private readonly fingerprint: string;

  constructor(private readonly row: AnswerRow) {
    this.fingerprint = row.fingerprint;
  }

  /** Whether it is the answer to this request, and not to another one with the same key. */
  isFor(fingerprint: string): boolean {
    return fingerprint === this.fingerprint;
  }

  /**
   * The original answer, marked as a replay. It warns of each secret that only the original had.
   * @throws idempotency_key_reused (422) if this is another request
   */
  replay(fingerprint: string): Reply {
    if (!this.isFor(fingerprint)) throw errors.idempotency_key_reused();
    const { status, headers, answer } = this.row;
    const { warnings, route } = requestContext();
    warnings.push(...(route?.secrets ?? []).map(secretOmitted));
    return reply(status!, rawJson(answer!), { ...headers, 'idempotency-replayed': 'true' });
  }
}

function secretOmitted(field: string): Warning {
  const message = `This response repeats an earlier one, and ${field} was shown only there. If it is lost, create or rotate the resource with another Idempotency-Key.`;
  return { code: 'secret_omitted', field, message };
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
    if (!(await storeAnswer(tx, this.claim.values, this.claimedUntil, fingerprint, answer))) throw inProgress(1);
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

/**
 * Claims a key in the transaction of its effect. Returns the time until which it is now claimed, or the stored answer.
 * @throws idempotency_in_progress (409), idempotency_key_reused (422)
 */
export async function takeKey(
  tx: Tx,
  scope: TenantScope,
  claim: IdempotencyClaim,
  leaseSeconds: number,
): Promise<string | StoredAnswer> {
  const values = valuesOf(scope, claim);
  const inserted = await tx.one<{ claimedUntil: string }>(INSERT, [...values, claim.fingerprint, leaseSeconds]);
  if (inserted) return inserted.claimedUntil;
  const row = await tx.one<KeyRow>(FIND, values);
  // The request that held the key was refused between the two statements.
  if (!row) throw inProgress(1);
  if (row.answer !== null) return new StoredAnswer(row);
  if (row.isClaimed && row.fingerprint !== '' && claim.fingerprint !== '' && row.fingerprint !== claim.fingerprint)
    throw errors.idempotency_key_reused();
  if (row.isClaimed) throw inProgress(row.secondsLeft);
  const taken = await tx.one<{ claimedUntil: string }>(RECLAIM, [
    ...values,
    row.claimedUntil,
    leaseSeconds,
    claim.fingerprint,
  ]);
  return taken!.claimedUntil;
}

/**
 * Stores the answer of a mutation with its key. A plain value is the answer with the status of the route, as it is for
 * the client. The secrets of the route are not stored.
 */
export async function storeAnswer(
  tx: Tx,
  values: unknown[],
  claimedUntil: string,
  fingerprint: string,
  answer: unknown,
): Promise<boolean> {
  const { status, headers, body } = answer instanceof Reply ? answer : reply(routeStatus(), answer);
  const stored = await tx.one(COMPLETE, [
    ...values,
    claimedUntil,
    fingerprint,
    status,
    JSON.stringify(headers),
    textOf(body),
  ]);
  return stored !== undefined;
}

function routeStatus(): number {
  const { route } = requestContext();
  return route ? defaultStatusOf(route) : 200;
}

function textOf(body: unknown): string {
  const secrets = requestContext().route?.secrets ?? [];
  if (body instanceof RawJson && secrets.length === 0) return body.text;
  // Anything else would be the answer of a handler that makes it only after the mutation.
  if (typeof body !== 'object' || body === null || body instanceof RawJson)
    throw new Error('A mutation with an Idempotency-Key must return the answer to its client.');
  return JSON.stringify({ ...body, ...Object.fromEntries(secrets.map((field) => [field, null])) });
}

/** Finds the stored answer of a key without waiting for a request that is in progress. */
export async function findAnswer(
  database: Database,
  scope: TenantScope,
  claim: IdempotencyClaim,
): Promise<StoredAnswer | undefined> {
  const [row] = await database.read<AnswerRow>(scope, FIND_ANSWER, valuesOf(scope, claim));
  return row && new StoredAnswer(row);
}

/**
 * Forgets the keys of requests for a deleted resource, whose name another one may get.
 * @param path of the resource: `/api/v1/deployments/chat`
 */
export async function forgetKeys(tx: Tx, tenantId: string, path: string): Promise<void> {
  await tx.query(FORGET_KEYS, [tenantId, path]);
}

export function valuesOf({ tenantId }: TenantScope, { method, path, key }: IdempotencyClaim): unknown[] {
  return [tenantId, method, path, key];
}

/** Most requests end long before their lease, so a client need not wait for all of it. */
export function inProgress(secondsLeft: number): Error {
  return errors.idempotency_in_progress({ headers: { 'retry-after': String(Math.min(secondsLeft, 5)) } });
}
