import type { Actor, Owner } from '@slipway/contracts';
import type { Statement } from '@slipway/platform-database';

export type Scope = 'viewer' | 'operator' | 'admin';

/** The caller: its identity, its tenant and its scopes. */
export interface Principal {
  tenantId: string;
  tenantName: string;
  isOperatorTenant: boolean;
  actor: Actor & { type: 'token' | 'user' | 'system' };
  scopes: ReadonlySet<Scope>;
  /** The owner of the credential, who is responsible for its use. Approvals are counted by owner. */
  owner: Owner;
  /** Owners of the tokens that minted this one, each once. Empty for a signed-in person. */
  minters: readonly Owner[];
  /** The facts that the access rests on. Every mutation reads them again before it commits. Absent for parts of Slipway. */
  access?: readonly AccessCheck[];
}

/**
 * One fact that the access of a caller rests on: a token, a mapping, a session. Both statements fail with
 * `slipway_refuse(code)` if the fact is gone, by the clock of the moment and not of the transaction's begin.
 */
export interface AccessCheck {
  /** Only reads, so a revocation that has not committed yet does not hold it up. */
  read: Statement;
  /** Keeps the fact until the transaction ends: a concurrent revocation waits, or this statement waits and sees it. */
  lock: Statement;
  /**
   * For a fact that no row of the caller shows, and that others may end without a change of one. Mutations that lock the
   * access run it first, before any other lock. The fact lasts until they have ended.
   */
  hold?: Statement;
  /**
   * @param isLocked whether `lock` has already run in the transaction. Then time alone can have ended the access: other
   * transactions wait, and a caller may revoke itself
   */
  values: (isLocked: boolean) => unknown[];
  /** The fact is in rows that a tenant does not see. */
  isOfSystem?: boolean;
}
