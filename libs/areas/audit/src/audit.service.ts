import { Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { Database } from '@slipway/platform-database';
import { pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import type { AuditFilterDto } from './audit.dto.js';
import { auditRows, type AuditRow } from './audit-rows.js';

@Injectable()
export class AuditService {
  constructor(private readonly database: Database) {}

  async list(
    { tenantId }: Principal,
    filter: AuditFilterDto,
    { limit, cursor }: PageRequest,
  ): Promise<PageOf<AuditRow>> {
    const { action, actor, resource_type, resource_name } = filter;
    const rows = await this.database.tx({ tenantId }, (tx) =>
      auditRows(tx, {
        where: {
          tenant_id: tenantId,
          ...(cursor && { id: LessThan(String(cursor[0])) }),
          ...(action && { action }),
          ...(actor && { actor }),
          ...(resource_type && { resource_type }),
          ...(resource_name && { resource_name }),
        },
        // Ids sort by the time of the change; a row is shown before it is sealed.
        order: { id: 'DESC' },
        take: limit + 1,
      }),
    );
    return pageOf(rows, limit, (row) => [row.id]);
  }
}
