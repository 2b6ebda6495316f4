import { Controller, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { AuditFilterDto, AuditPageDto } from './audit.dto.js';
import type { ShownAuditRow } from './audit-rows.js';
import { AuditService } from './audit.service.js';

@Controller()
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  @Route({
    method: 'GET',
    path: '/audit',
    scope: 'admin',
    tag: 'Audit',
    operationId: 'listAudit',
    summary: 'List audit entries, newest first',
    description:
      'Returns who changed what. Each mutation writes one row in its own transaction. Identical audited reads are combined into at most one row an hour. Rows are sealed into a hash chain about a second later.',
    ok: { 200: AuditPageDto },
    paged: true,
    byTime: true,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Query() filter: AuditFilterDto,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<ShownAuditRow>> {
    return this.audit.list(who, filter, page);
  }
}
