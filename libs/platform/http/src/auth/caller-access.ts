import type { Tx } from '@slipway/platform-database';
import { type AccessCheck, errors, type Principal, requestContext, SlipwayError } from '../index.js';
import { errorSpecOf } from '../errors/slipway-error.js';

/** The SQLSTATE of `slipway_refuse`. */
const REFUSED = 'SW401';

/** Transactions that have locked what their caller's access rests on. */
const locked = new WeakSet<Tx>();

/**
 * Returns what the access of a mutation's caller rests on. The caller of the request comes first: a service may pass
 * only a part of its principal, and a long request renews its bearer. Empty outside of requests: the worker acts for
 * no caller whose access can end.
 */
export function accessOf(principal: Pick<Principal, 'access'>): readonly AccessCheck[] {
  return requestContext().principal?.access ?? principal.access ?? [];
}

/** Call it first in a transaction that locks the access of its caller: nothing that it holds up may hold it up. */
export function holdAccess(tx: Tx, principal: Pick<Principal, 'access'>): void {
  for (const { hold } of accessOf(principal)) if (hold) tx.enqueue(hold, []);
}

/**
 * Keeps the access of the caller from ending until the transaction ends. Call it in a mutation that may end the access
 * of its own caller or of others, after the lock by which such mutations run one after another, and before it reads
 * what it changes. A caller that has lost its access while it waited for that lock must not restore it.
 * @throws the refusal, which `refusalOf` reads
 */
export async function lockAccess(tx: Tx, principal: Pick<Principal, 'access'>): Promise<void> {
  await Promise.all(accessOf(principal).map((check) => ask(tx, check, check.lock, false)));
  locked.add(tx);
}

function ask(tx: Tx, { values, isOfSystem }: AccessCheck, statement: AccessCheck['read'], isLocked: boolean) {
  return isOfSystem ? tx.lookAsSystem(statement, values(isLocked)) : tx.query(statement, values(isLocked));
}

/**
 * Reads the access again, in the message of the commit, so that it costs no round trip. Call it last in a transaction.
 * @param isLocking also keeps the access from ending until the commit is durable
 */
export function requireAccess(tx: Tx, checks: readonly AccessCheck[], isLocking: boolean): void {
  const isLocked = locked.has(tx);
  for (const { lock, read, values, isOfSystem } of checks)
    tx.enqueue(isLocking && !isLocked ? lock : read, values(isLocked), isOfSystem);
}

/**
 * Returns the refusal of a caller whose access has ended, for a transaction that fails anyway: otherwise the failure
 * would tell such a caller something about the tenant. It shares the message of the rollback. Never rejects.
 */
export async function refusalIn(tx: Tx, checks: readonly AccessCheck[]): Promise<SlipwayError | undefined> {
  const isLocked = locked.has(tx);
  const answers = await Promise.allSettled(checks.map((check) => ask(tx, check, check.read, isLocked)));
  for (const answer of answers) {
    const refusal = answer.status === 'rejected' ? refusalOf(answer.reason) : undefined;
    if (refusal) return refusal;
  }
  return undefined;
}

/** Returns the error for the client if the failure is that of an access check. */
export function refusalOf(failure: unknown): SlipwayError | undefined {
  const { code, message } = (failure ?? {}) as { code?: unknown; message?: unknown };
  if (code !== REFUSED || typeof message !== 'string') return undefined;
  const spec = errorSpecOf(message);
  if (!spec) return errors.unauthenticated({ cause: failure });
  if (message !== 'scope_insufficient') return new SlipwayError(message, spec, { cause: failure });
  const { route } = requestContext();
  return errors.scope_insufficient({
    message: 'The caller lost a scope while the request was processed.',
    remediation: 'Send the request again, with a token that has the required scope.',
    extra: route && { required_scope: route.scope },
    cause: failure,
  });
}
