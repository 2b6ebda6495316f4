import { personOf } from '@slipway/contracts';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import {
  BEARER_AUTHENTICATORS,
  withIncluded,
  type BearerAuthenticator,
  type BearerAuthenticators,
} from '@slipway/platform-http/auth';
import { type Principal, errors, type SlipwayRequest } from '@slipway/platform-http';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { operatorFetch } from '@slipway/platform-egress';
import { accessOfIdentity, LOOK_UP_IDENTITY, type IdentityRow } from '../console-access.query.js';
import { identityErrors } from '../identity.errors.js';
import { identityOf, type HostedTokenRules } from './hosted-token.js';
import { ProviderKeys } from './provider-keys.js';

/** The header in which an identity of several tenants names the tenant that it means, by id or name. */
export const TENANT_HEADER = 'X-Slipway-Tenant';

const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** Signs in granted identities with tokens of the hosted provider, if one is configured. */
@Injectable()
export class HostedIdentities implements BearerAuthenticator, OnModuleInit {
  private readonly provider: string;
  private readonly sign?: { keys: ProviderKeys; rules: HostedTokenRules };

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'identity' | 'outboundProxy'>,
    private readonly database: Database,
    @Inject(BEARER_AUTHENTICATORS) private readonly authenticators: BearerAuthenticators,
  ) {
    const { provider, issuer, audience, jwksUrl } = config.identity;
    this.provider = provider;
    if (!issuer || !audience || !jwksUrl) return;
    const fetch = config.outboundProxy && operatorFetch(config.outboundProxy);
    this.sign = { keys: new ProviderKeys(jwksUrl, {}, fetch), rules: { issuer, audience } };
  }

  onModuleInit(): void {
    if (this.sign) this.authenticators.add(this);
  }

  accepts(credential: string): boolean {
    return JWT.test(credential);
  }

  /**
   * @throws unauthenticated, token_expired (401), console_access_revoked (403), invalid_parameter (400) if several tenants
   * know the identity and the request names none, unavailable (503)
   */
  async authenticate(credential: string, request: SlipwayRequest): Promise<Principal> {
    const { keys, rules } = this.sign!;
    const identity = await identityOf(credential, keys, rules);
    const { organizationId, userId } = identity;
    const rows = await this.database.read<IdentityRow>('system', LOOK_UP_IDENTITY, [
      this.provider,
      organizationId,
      userId,
    ]);
    // A request under way is identified again: it keeps its tenant, whatever other tenants have mapped in the meantime.
    const { tenantId } = request.slipway?.principal ?? {};
    const row = chooseTenant(
      tenantId === undefined ? rows : rows.filter((one) => one.tenant_id === tenantId),
      (request.headers as Record<string, string | undefined>)[TENANT_HEADER.toLowerCase()],
    );
    // The person, not the mapping: a person is the same actor in every tenant, and the count of approvals relies on
    // that.
    const actor = { type: 'user', id: userId, name: row.display_name } as const;
    const scopes = withIncluded(row.scopes);
    return {
      tenantId: row.tenant_id,
      tenantName: row.tenant_name,
      isOperatorTenant: row.is_operator,
      actor,
      scopes,
      owner: personOf(actor),
      minters: [],
      access: [accessOfIdentity(this.provider, identity, { tenantId: row.tenant_id, scopes })],
    };
  }
}

/**
 * Returns the mapping that a request uses. A revoked one still counts as one of several: otherwise a revocation in one
 * tenant would silently send the requests of a client that names no tenant to another.
 */
export function chooseTenant(rows: IdentityRow[], named: string | undefined): IdentityRow {
  const candidates =
    named === undefined ? rows : rows.filter((row) => row.tenant_id === named || row.tenant_name === named);
  if (candidates.length === 0) throw errors.unauthenticated();
  const active = candidates.filter((row) => row.status === 'active');
  if (active.length === 0) throw identityErrors.console_access_revoked();
  // The name of one tenant may be the id of another.
  if (candidates.length === 1) return active[0]!;
  const message = `${TENANT_HEADER} must name the tenant: this identity is mapped in several tenants (${active.map((row) => row.tenant_name).join(', ')}).`;
  throw errors.invalid_parameter({
    message,
    remediation: `Send ${TENANT_HEADER} with the id or the name of a tenant.`,
    details: [{ field: TENANT_HEADER, code: 'required', message }],
  });
}
