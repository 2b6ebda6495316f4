import { Injectable } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import type { AuditFilterDto } from './audit.dto.js';
import { LIST, type AuditRow } from './audit.query.js';

@Injectable()
export class AuditService {
  constructor(private readonly database: Database) {}

  async list(
    { tenantId }: Principal,
    filter: AuditFilterDto,
    { limit, cursor }: PageRequest,
  ): Promise<PageOf<AuditRow>> {
    const { action, actor, resource_type, resource_name } = filter;
    const values = [
      tenantId,
      cursor?.[0] ?? null,
      action ?? null,
      actor ?? null,
      resource_type ?? null,
      resource_name ?? null,
      limit + 1,
    ];
    const rows = await this.database.read<AuditRow>({ tenantId }, LIST, values);
    return pageOf(rows, limit, (row) => [row.id]);
  }
}
