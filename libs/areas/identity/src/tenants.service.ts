import { Injectable } from '@nestjs/common';
import { TenantEntity, TokenService } from '@slipway/platform-auth';
import { type Principal, errors, pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import { Database, newId, type Tx } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-mutations';
import { MoreThan } from 'typeorm';
import { identityErrors } from './identity.errors.js';
import type { CreatedTenantDto, CreateTenantDto, TenantDto } from './tenant.dto.js';
import { INSERT_TENANT } from './tenant.query.js';
import { defaultExpiry } from './token-rules.js';

@Injectable()
export class TenantsService {
  constructor(
    private readonly database: Database,
    private readonly tokens: TokenService,
  ) {}

  /** A tenant and its first admin token, in one transaction of the system: no tenant may write beyond itself. */
  async create(who: Principal, dto: CreateTenantDto): Promise<CreatedTenantDto> {
    assertOperatorTenant(who);
    return this.database.tx('system', async (tx) => {
      const tenant = await tx.one<TenantDto>(INSERT_TENANT, [newId('ten'), dto.name]);
      if (!tenant) throw identityErrors.tenant_exists({ message: `A tenant named ${dto.name} exists.` });
      const { id, name } = tenant;
      const { text } = await this.tokens.create(tx, {
        tenantId: id,
        name: 'first',
        scopes: ['admin'],
        expiresAt: defaultExpiry(new Date()),
        createdBy: `${who.actor.type}:${who.actor.id}`,
      });
      await appendAudit(inTenant(tx, who.tenantId), {
        action: 'tenant.create',
        resourceType: 'tenant',
        resourceName: name,
        after: tenant,
      });
      return { id, name, token: text! };
    });
  }

  async list(who: Principal, page: PageRequest): Promise<PageOf<TenantDto>> {
    assertOperatorTenant(who);
    const after = page.cursor?.[0] as string | undefined;
    const rows = await this.database.tx('system', (tx) =>
      tx
        .repository(TenantEntity)
        .find({
          select: { id: true, name: true, created_at: true },
          where: after === undefined ? {} : { id: MoreThan(after) },
          order: { id: 'ASC' },
          take: page.limit + 1,
        }),
    );
    return pageOf(rows, page.limit, (row) => [row.id]);
  }
}

function assertOperatorTenant(who: Principal): void {
  if (who.isOperatorTenant) return;
  throw errors.scope_insufficient({
    message: 'Tenants are managed by admins of the operator tenant.',
    remediation: 'Ask the operator.',
  });
}

/** The same transaction, its audit row attributed to the operator's tenant: a system transaction has none of its own. */
function inTenant(tx: Tx, tenantId: string): Tx {
  return Object.create(tx, { tenantId: { value: tenantId } }) as Tx;
}
