import { Injectable } from '@nestjs/common';
import { type Principal, pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import { Database, findPage, newestFirst, newId, type Tx } from '@slipway/platform-database';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import type {
  ConsoleAccessDto,
  ConsoleAccessFilterDto,
  DeletedConsoleAccessDto,
  SetConsoleAccessDto,
} from './console-access.dto.js';
import { ConsoleAccessEntity } from './console-access.entity.js';
import { FIND_ORGANIZATION_GRANT } from './console-access.query.js';
import { identityErrors } from './identity.errors.js';
import { LastAdmin } from './last-admin.js';

@Injectable()
export class ConsoleAccessService {
  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly lastAdmin: LastAdmin,
  ) {}

  /**
   * A mapping that already has these values stays unchanged and leaves no second audit row. A revocation is never
   * refused because of its organization.
   * @throws organization_not_granted (403), last_admin (409)
   */
  async set(who: Principal, dto: SetConsoleAccessDto): Promise<ConsoleAccessDto> {
    if (dto.access) await this.assertGranted(who, dto);
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      await this.lastAdmin.lock(tx, who);
      const before = await find(tx, dto);
      const scopes = dto.access ? [...new Set(dto.scopes)] : [];
      if (before && isSo(before, dto, scopes)) return before;
      if (before && this.isAdmin(before) && !scopes.includes('admin'))
        await this.lastAdmin.assertAnother(tx, before.id);
      await write(tx, who, dto, scopes, before?.id);
      const after = (await find(tx, dto))!;
      await appendAudit(tx, {
        action: dto.access ? 'console_access.grant' : 'console_access.revoke',
        resourceType: 'console_access',
        resourceName: after.id,
        before,
        after,
      });
      return after;
    });
  }

  async list(who: Principal, { status }: ConsoleAccessFilterDto, page: PageRequest): Promise<PageOf<ConsoleAccessDto>> {
    const { rows, hasMore } = await this.database.tx({ tenantId: who.tenantId }, (tx) =>
      findPage(tx, ConsoleAccessEntity, newestFirst(who.tenantId, page, { ...(status && { status }) })),
    );
    return pageOf({ rows: rows.map(answerOf), hasMore }, (row) => [row.id]);
  }

  /** Under the lock of the admins, as every write of a mapping. */
  async delete(who: Principal, id: string): Promise<DeletedConsoleAccessDto> {
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      await this.lastAdmin.lock(tx, who);
      const mappings = tx.repository(ConsoleAccessEntity);
      const row = await mappings.findOneBy({ id, tenant_id: tx.tenant });
      if (!row) throw identityErrors.console_access_not_found();
      if (row.status === 'active') throw identityErrors.console_access_active();
      await mappings.delete({ id, tenant_id: tx.tenant });
      await appendAudit(tx, {
        action: 'console_access.delete',
        resourceType: 'console_access',
        resourceName: id,
        before: answerOf(row),
      });
      return { id, state: 'deleted' };
    });
  }

  /**
   * Only to inform the caller: if an organization is withdrawn after this check, its mappings give no access anyway.
   */
  private async assertGranted(who: Principal, { provider, external_organization_id }: Identity): Promise<void> {
    const grants = await this.database.read('system', FIND_ORGANIZATION_GRANT, [
      provider,
      external_organization_id,
      who.tenantId,
    ]);
    if (grants.length > 0) return;
    throw identityErrors.organization_not_granted({
      message: `The organization ${external_organization_id} is not assigned to this tenant.`,
    });
  }

  private isAdmin(row: ConsoleAccessDto): boolean {
    return row.access && row.scopes.includes('admin') && this.lastAdmin.canSignIn(row.provider);
  }
}

type Identity = Pick<SetConsoleAccessDto, 'provider' | 'external_organization_id' | 'external_user_id'>;

async function find(tx: Tx, identity: Identity): Promise<ConsoleAccessDto | undefined> {
  const { provider, external_organization_id, external_user_id } = identity;
  const row = await tx
    .repository(ConsoleAccessEntity)
    .findOneBy({ tenant_id: tx.tenant, provider, external_organization_id, external_user_id });
  return row ? answerOf(row) : undefined;
}

/**
 * Needs neither a row lock nor ON CONFLICT: every writer of mappings of the tenant holds the lock on its admins. A name
 * that is not given stays.
 * @param id of the mapping, if there is one
 */
async function write(tx: Tx, who: Principal, dto: SetConsoleAccessDto, scopes: string[], id?: string): Promise<void> {
  const { access, display_name, provider, external_organization_id, external_user_id } = dto;
  const mappings = tx.repository(ConsoleAccessEntity);
  const granted = { scopes, status: access ? 'active' : 'revoked', updated_by: who.actor, display_name } as const;
  if (id === undefined) {
    const identity = { provider, external_organization_id, external_user_id };
    await mappings.insert({ id: newId('cac'), tenant_id: tx.tenant, ...identity, ...granted });
    return;
  }
  await mappings.update({ id, tenant_id: tx.tenant }, { ...granted, updated_at: () => 'now()' });
}

function answerOf(row: ConsoleAccessEntity): ConsoleAccessDto {
  const { id, provider, external_organization_id, external_user_id, display_name, scopes, status } = row;
  const { created_at, updated_at, updated_by } = row;
  const identity = { id, provider, external_organization_id, external_user_id, display_name };
  return { ...identity, access: status === 'active', scopes, status, created_at, updated_at, updated_by };
}

function isSo(row: ConsoleAccessDto, dto: SetConsoleAccessDto, scopes: string[]): boolean {
  const isNamed = dto.display_name === undefined || dto.display_name === row.display_name;
  return isNamed && row.access === dto.access && row.scopes.join() === scopes.join();
}
