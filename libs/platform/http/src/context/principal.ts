export type Scope = 'viewer' | 'operator' | 'admin';

/** Who is calling, on behalf of which tenant, allowed to do what. */
export interface Principal {
  tenantId: string;
  tenantName: string;
  isOperatorTenant: boolean;
  actor: { type: 'token' | 'user' | 'system'; id: string };
  scopes: ReadonlySet<Scope>;
}
