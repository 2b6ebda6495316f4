import { Injectable } from '@nestjs/common';
import { Database, newestFirst } from '@slipway/platform-database';
import { pageOf, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { In } from 'typeorm';
import { actionsOf, type AuditFilterDto } from './audit.dto.js';
import { auditPage, shownAuditRow, type ShownAuditRow } from './audit-rows.js';

@Injectable()
export class AuditService {
  constructor(private readonly database: Database) {}

  async list({ tenantId }: Principal, filter: AuditFilterDto, page: PageRequest): Promise<PageOf<ShownAuditRow>> {
    const { action, actor, resource_type, resource_name } = filter;
    const { rows, hasMore } = await this.database.tx({ tenantId }, (tx) =>
      // Sorted by the time of the change: a row is shown before it is sealed.
      auditPage(
        tx,
        newestFirst(
          tenantId,
          page,
          {
            ...(action && { action: In(actionsOf(action)) }),
            ...(actor && { actor }),
            ...(resource_type && { resource_type }),
            ...(resource_name && { resource_name }),
          },
          'at',
        ),
      ),
    );
    return pageOf({ rows: rows.map(shownAuditRow), hasMore }, (row) => [row.id]);
  }
}
