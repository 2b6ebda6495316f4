import type { Owner } from '@slipway/contracts';

export type Scope = 'viewer' | 'operator' | 'admin';

/** Who is calling, on behalf of which tenant, allowed to do what. */
export interface Principal {
  tenantId: string;
  tenantName: string;
  isOperatorTenant: boolean;
  actor: { type: 'token' | 'user' | 'system'; id: string };
  scopes: ReadonlySet<Scope>;
  /** Who answers for the credential: what approvals are counted by. */
  owner: Owner;
  /** Owners of the tokens by which this one was minted, each once; of a signed-in person none. */
  minters: readonly Owner[];
}
