import { Injectable } from '@nestjs/common';
import { type Principal, pageOf, type PageOf, type PageRequest } from '@slipway/platform-http';
import { Database, newId, type Tx } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-mutations';
import type { SetConsoleAccessDto } from './console-access.dto.js';
import { FIND_ACCESS, LIST_ACCESS, PUT_ACCESS, type ConsoleAccessRow } from './console-access.query.js';
import { LastAdmin } from './last-admin.js';

@Injectable()
export class ConsoleAccessService {
  constructor(
    private readonly database: Database,
    private readonly lastAdmin: LastAdmin,
  ) {}

  /** What is so already stays as it is, and leaves no second audit row. */
  async set(who: Principal, dto: SetConsoleAccessDto): Promise<ConsoleAccessRow> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      await this.lastAdmin.lock(tx);
      const before = await tx.one<ConsoleAccessRow>(FIND_ACCESS, [
        tx.tenant,
        dto.provider,
        dto.external_organization_id,
        dto.external_user_id,
      ]);
      const scopes = dto.access ? [...new Set(dto.scopes)] : [];
      if (before && isSo(before, dto, scopes)) return before;
      if (before && this.isAdmin(before) && !scopes.includes('admin'))
        await this.lastAdmin.assertAnother(tx, before.id);
      const after = await this.write(tx, who, dto, scopes);
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

  async list(who: Principal, page: PageRequest): Promise<PageOf<ConsoleAccessRow>> {
    const values = [who.tenantId, page.cursor?.[0] ?? null, page.limit + 1];
    const rows = await this.database.read<ConsoleAccessRow>({ tenantId: who.tenantId }, LIST_ACCESS, values);
    return pageOf(rows, page.limit, (row) => [row.id]);
  }

  private isAdmin(row: ConsoleAccessRow): boolean {
    return row.access && row.scopes.includes('admin') && this.lastAdmin.canSignIn(row.provider);
  }

  private async write(tx: Tx, who: Principal, dto: SetConsoleAccessDto, scopes: string[]): Promise<ConsoleAccessRow> {
    const row = await tx.one<ConsoleAccessRow>(PUT_ACCESS, [
      newId('cac'),
      tx.tenant,
      dto.provider,
      dto.external_organization_id,
      dto.external_user_id,
      dto.display_name ?? null,
      scopes,
      dto.access ? 'active' : 'revoked',
      JSON.stringify(who.actor),
    ]);
    return row!;
  }
}

function isSo(row: ConsoleAccessRow, dto: SetConsoleAccessDto, scopes: string[]): boolean {
  const isNamed = dto.display_name === undefined || dto.display_name === row.display_name;
  return isNamed && row.access === dto.access && row.scopes.join() === scopes.join();
}
