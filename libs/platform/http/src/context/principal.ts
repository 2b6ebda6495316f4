import type { Actor, Owner } from '@slipway/contracts';

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
}
