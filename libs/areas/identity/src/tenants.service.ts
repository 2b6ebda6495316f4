import { isDeepStrictEqual } from 'node:util';
import type { Owner } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { lockAccess, TenantEntity, TokenService } from '@slipway/platform-http/auth';
import { CONFIG, type Config } from '@slipway/platform-config';
import {
  type ExistenceCheck,
  type Principal,
  errors,
  firstRows,
  pageOf,
  type PageOf,
  type PageRequest,
} from '@slipway/platform-http';
import { Database, findPage, newId, type Tx } from '@slipway/platform-database';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { MoreThan } from 'typeorm';
import { identityErrors } from './identity.errors.js';
import { organizationsOf, setOrganizations } from './tenant-organizations.js';
import type { CreatedTenantDto, CreateTenantDto, TenantDto, UpdateTenantDto } from './tenant.dto.js';
import { FIND_SIMILAR_NAMES, INSERT_TENANT, LOCK_TENANT, LOCK_TENANTS } from './tenant.query.js';
import { defaultExpiry } from './token-rules.js';

const FIRST_OWNER: Owner = { type: 'person', id: 'admin' };
type TenantRow = Omit<TenantDto, 'external_organization_ids'>;

@Injectable()
export class TenantsService implements ExistenceCheck {
  private readonly provider: string;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'identity'>,
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly tokens: TokenService,
  ) {
    this.provider = config.identity.provider;
  }

  /** A tenant is visible to itself and to the operator tenant. */
  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    if (id === tenantId) return;
    const isKnown = await this.database.tx('system', async (tx) => {
      const tenants = tx.repository(TenantEntity);
      return (await tenants.existsBy({ id: tenantId, is_operator: true })) && (await tenants.existsBy({ id }));
    });
    if (!isKnown) throw identityErrors.tenant_not_found();
  }

  /**
   * Creates a tenant and its first admin token, in one transaction of the system: no tenant may write rows of another.
   */
  async create(who: Principal, dto: CreateTenantDto): Promise<CreatedTenantDto> {
    assertOperatorTenant(who);
    return this.mutations.runAsSystem({ principal: who, locksAccess: true }, async (tx) => {
      await lockTenants(tx, who);
      const tenant = (await isTaken(tx, dto.name))
        ? undefined
        : await tx.one<TenantRow>(INSERT_TENANT, [newId('ten'), dto.name]);
      if (!tenant)
        throw identityErrors.tenant_exists({
          message: `A tenant named ${dto.name} already exists. Names are not case-sensitive.`,
        });
      const { id, name } = tenant;
      const external_organization_ids = dto.external_organization_ids.toSorted();
      if (external_organization_ids.length > 0)
        await setOrganizations(tx, this.provider, id, external_organization_ids);
      const { text } = await this.tokens.create(tx, {
        tenantId: id,
        name: 'first',
        scopes: ['admin'],
        expiresAt: defaultExpiry(await tx.now()),
        createdBy: `${who.actor.type}:${who.actor.id}`,
        owner: dto.owner ?? FIRST_OWNER,
        // Owners are names within a tenant: the operator's owners have no meaning in this one.
        minters: [],
      });
      await appendAudit(inTenant(tx, who.tenantId), {
        action: 'tenant.create',
        resourceType: 'tenant',
        resourceName: name,
        after: { ...tenant, external_organization_ids },
      });
      return { id, name, token: text! };
    });
  }

  /** A tenant that already has these values stays unchanged, and leaves no second audit row. */
  async update(who: Principal, id: string, dto: UpdateTenantDto): Promise<TenantDto> {
    await this.assertExists(who.tenantId, { id });
    assertOperatorTenant(who);
    return this.mutations.runAsSystem({ principal: who, locksAccess: true }, async (tx) => {
      await lockTenants(tx, who);
      const tenant = (await tx.one<TenantRow>(LOCK_TENANT, [id]))!;
      const [before] = (await this.answersOf(tx, [tenant])) as [TenantDto];
      const after = { ...before, external_organization_ids: dto.external_organization_ids.toSorted() };
      if (isDeepStrictEqual(before, after)) return before;
      await setOrganizations(tx, this.provider, id, after.external_organization_ids);
      await appendAudit(inTenant(tx, who.tenantId), {
        action: 'tenant.update',
        resourceType: 'tenant',
        resourceName: tenant.name,
        before,
        after,
      });
      return after;
    });
  }

  async list(who: Principal, page: PageRequest): Promise<PageOf<TenantDto>> {
    assertOperatorTenant(who);
    const after = page.cursor?.[0] as string | undefined;
    return this.database.tx('system', async (tx) => {
      const { rows, hasMore } = await findPage(tx, TenantEntity, {
        select: { id: true, name: true, created_at: true },
        where: after === undefined ? {} : { id: MoreThan(after) },
        order: { id: 'ASC' },
        limit: page.limit,
      });
      const answers = firstRows(await this.answersOf(tx, rows), page.limit);
      return pageOf({ rows: answers.rows, hasMore: hasMore || answers.hasMore }, (row) => [row.id]);
    });
  }

  private async answersOf(tx: Tx, tenants: TenantRow[]): Promise<TenantDto[]> {
    const ids = tenants.map(({ id }) => id);
    const organizations = await organizationsOf(tx, this.provider, ids);
    return tenants.map(({ id, name, created_at }) => {
      return { id, name, external_organization_ids: organizations.get(id) ?? [], created_at };
    });
  }
}

/** An admin may take its own organization from the operator tenant, but must still have it when it begins. */
async function lockTenants(tx: Tx, who: Principal): Promise<void> {
  tx.enqueue(LOCK_TENANTS, []);
  await lockAccess(tx, who);
}

/** The caller holds the lock of the tenants. */
async function isTaken(tx: Tx, name: string): Promise<boolean> {
  const found = await tx.query<{ name: string }>(FIND_SIMILAR_NAMES, [name]);
  return found.some((other) => withoutCase(other.name) === withoutCase(name));
}

/** Capitals first, because several small letters have one capital, such as `ß` and `ss`, or both forms of sigma. */
function withoutCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function assertOperatorTenant(who: Principal): void {
  if (who.isOperatorTenant) return;
  throw errors.scope_insufficient({
    message: 'Only admins of the operator tenant can manage tenants.',
    remediation: 'Ask the operator.',
  });
}

/**
 * Returns the same transaction, with its audit row attributed to the operator's tenant: a system transaction has no
 * tenant.
 */
function inTenant(tx: Tx, tenantId: string): Tx {
  return Object.create(tx, { tenantId: { value: tenantId } }) as Tx;
}
