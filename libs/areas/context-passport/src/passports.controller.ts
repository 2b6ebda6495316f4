import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import {
  CreatePassportDto,
  DeletedPassportDto,
  PassportDto,
  PassportFilterDto,
  PassportPageDto,
} from './passport.dto.js';
import { PassportsService } from './passports.service.js';

@Controller()
export class PassportsController {
  constructor(private readonly passports: PassportsService) {}

  @Route({
    method: 'POST',
    path: '/context-passports',
    scope: 'operator',
    tag: 'Context Passport',
    operationId: 'createContextPassport',
    summary: 'Create a context passport',
    description:
      'Declares a session before its first request. Gateways create the passports of other sessions by themselves. Declaring the same session again renews its passport and returns it.',
    example: { deployment: 'chat', session_id: 'conversation-1' },
    ok: { 201: PassportDto },
    errors: ['deployment_not_found', 'quota_exceeded'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreatePassportDto) {
    return this.passports.create(who, body);
  }

  @Route({
    method: 'GET',
    path: '/context-passports',
    scope: 'viewer',
    tag: 'Context Passport',
    operationId: 'listContextPassports',
    summary: 'List context passports',
    description:
      'Returns the sessions of the tenant, ordered by id, which is no order in time. Filter with `deployment` and `state`. The values are about a second old.',
    ok: { 200: PassportPageDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: PassportFilterDto, @Page('string') page: PageRequest) {
    return this.passports.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/context-passports/:id',
    scope: 'viewer',
    tag: 'Context Passport',
    operationId: 'getContextPassport',
    summary: 'Inspect a context passport',
    description:
      'Returns the revision and the instance that the session is bound to, and how often its requests reached them. The affinity is best effort, and the values are about a second old. The session key itself is never stored.',
    ok: { 200: PassportDto },
    errors: ['context_passport_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.passports.get(who, id);
  }

  @Route({
    method: 'DELETE',
    path: '/context-passports/:id',
    scope: 'operator',
    tag: 'Context Passport',
    operationId: 'revokeContextPassport',
    summary: 'Revoke a context passport',
    description:
      'Gateways then route the session without affinity. Revoking a passport again returns the same response.',
    ok: { 200: PassportDto },
    errors: ['context_passport_not_found'],
  })
  revoke(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.passports.revoke(who, id);
  }

  @Route({
    method: 'DELETE',
    path: '/context-passports/:id/record',
    scope: 'operator',
    tag: 'Context Passport',
    operationId: 'deleteContextPassport',
    summary: 'Delete an ended passport',
    description:
      'Deletes the record of a passport that is revoked or expired, so that it no longer counts in the quota `context_passports`. The next request of the session makes a new passport, with affinity. An active passport is refused.',
    ok: { 200: DeletedPassportDto },
    errors: ['context_passport_not_found', 'context_passport_active'],
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.passports.delete(who, id);
  }
}
