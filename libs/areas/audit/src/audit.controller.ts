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
    summary: 'List who changed what, newest first',
    description:
      'One row a mutation, written with it, and one an hour at most for reads alike that matter. Rows are sealed into a hash chain about a second later.',
    ok: { 200: AuditPageDto },
    paged: true,
    errors: ['validation_failed'],
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Query() filter: AuditFilterDto,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<ShownAuditRow>> {
    return this.audit.list(who, filter, page);
  }
}
