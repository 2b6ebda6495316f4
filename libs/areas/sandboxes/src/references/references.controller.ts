import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import {
  CreateReferenceDto,
  DeletedReferenceDto,
  ReferenceDto,
  ReferenceListDto,
  RevokedReferenceDto,
  ReferenceFilterDto,
} from './reference.dto.js';
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
    summary: 'Register an external sandbox',
    description:
      'Also creates a sandbox whose files are sent to the external one. The registration itself sends nothing.',
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
    summary: 'List sandbox references, newest first',
    description: 'Returns active and revoked references, never with their credential.',
    ok: { 200: ReferenceListDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: ReferenceFilterDto, @Page('string') page: PageRequest) {
    return this.references.list(who, filter, page);
  }

  @Route({
    method: 'DELETE',
    path: '/sandboxes/references/:id',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'revokeSandboxReference',
    summary: 'Revoke a sandbox reference',
    description:
      'Erases the credential and sends nothing, so the external sandbox does not change. Revoking a reference again returns the same response.',
    ok: { 200: RevokedReferenceDto },
    errors: ['sandbox_reference_not_found'],
  })
  revoke(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.references.revoke(who, id);
  }

  @Route({
    method: 'DELETE',
    path: '/sandboxes/references/:id/record',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'deleteSandboxReference',
    summary: 'Delete a revoked reference',
    description:
      'Deletes what is left of a revoked reference, so that it no longer counts in the quota `sandbox_references`. Sends nothing. A reference that is active, or that sandboxes still have, is refused.',
    ok: { 200: DeletedReferenceDto },
    errors: ['sandbox_reference_not_found', 'sandbox_reference_active', 'sandbox_reference_in_use'],
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.references.delete(who, id);
  }
}
