import { Body, Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { CreateReferenceDto, ReferenceDto, ReferenceListDto, RevokedReferenceDto } from './reference.dto.js';
import { ReferencesService } from './references.service.js';

@Controller()
export class ReferencesController {
  constructor(private readonly references: ReferencesService) {}

  @Route({
    method: 'POST',
    path: '/sandboxes/references',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'createSandboxReference',
    summary: 'Register an externally hosted sandbox',
    description: 'Also makes the sandbox whose files are passed on to it. Nothing is sent to the external sandbox.',
    example: {
      provider: 'custom',
      base_url: 'http://127.0.0.1:9000',
      external_id: 'box-1',
      credential: 'its-access-token',
    },
    ok: { 201: ReferenceDto },
    errors: ['quota_exceeded'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() dto: CreateReferenceDto) {
    return this.references.create(who, dto);
  }

  @Route({
    method: 'GET',
    path: '/sandboxes/references',
    scope: 'viewer',
    tag: 'Sandboxes',
    operationId: 'listSandboxReferences',
    summary: 'List references to external sandboxes, newest first',
    description: 'Active and revoked ones, never with their credential.',
    ok: { 200: ReferenceListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest) {
    return this.references.list(who, page);
  }

  @Route({
    method: 'DELETE',
    path: '/sandboxes/references/:id',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'revokeSandboxReference',
    summary: "Revoke the service's access to an external sandbox without changing it",
    description: 'Erases the credential and sends nothing. Revoking again answers the same.',
    ok: { 200: RevokedReferenceDto },
    errors: ['sandbox_reference_not_found'],
  })
  revoke(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.references.revoke(who, id);
  }
}
