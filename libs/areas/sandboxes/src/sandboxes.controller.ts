import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  Conditions,
  Page,
  Route,
  type PageRequest,
  type Preconditions,
  type Principal,
} from '@slipway/platform-http';
import {
  CreateSandboxDto,
  DeletedSandboxDto,
  SandboxDto,
  SandboxListDto,
  UpdateSandboxDto,
  SandboxFilterDto,
} from './sandbox.dto.js';
import { SandboxesService } from './sandboxes.service.js';

@Controller()
export class SandboxesController {
  constructor(private readonly sandboxes: SandboxesService) {}

  @Route({
    method: 'POST',
    path: '/sandboxes',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'createSandbox',
    summary: 'Create a sandbox',
    description:
      'Creates a durable workspace for files; Slipway runs nothing in it. With `reference_id`, its files are sent to the external sandbox.',
    example: { labels: { purpose: 'trial' } },
    ok: { 201: SandboxDto },
    errors: ['sandbox_reference_not_found', 'sandbox_reference_revoked', 'quota_exceeded'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() dto: CreateSandboxDto) {
    return this.sandboxes.create(who, dto);
  }

  @Route({
    method: 'GET',
    path: '/sandboxes',
    scope: 'viewer',
    tag: 'Sandboxes',
    operationId: 'listSandboxes',
    summary: 'List sandboxes, newest first',
    description: 'Returns sandboxes with the usage of their workspaces.',
    ok: { 200: SandboxListDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: SandboxFilterDto, @Page('string') page: PageRequest) {
    return this.sandboxes.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/sandboxes/:id',
    scope: 'viewer',
    tag: 'Sandboxes',
    operationId: 'getSandbox',
    summary: 'Inspect a sandbox',
    description: 'Returns the provider, state and workspace of a sandbox, never a credential.',
    ok: { 200: SandboxDto },
    errors: ['sandbox_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.sandboxes.get(who, id);
  }

  @Route({
    method: 'PATCH',
    path: '/sandboxes/:id',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'updateSandbox',
    summary: 'Change a sandbox',
    description:
      'Applies a JSON merge patch (RFC 7386) to labels, expiry and the limit of the workspace: fields in the patch change, and `null` removes a field or resets it to its default. Provider and reference cannot change.',
    example: { labels: { purpose: 'trial' }, expires_at: null },
    ok: { 200: SandboxDto },
    errors: ['sandbox_not_found'],
    conditional: true,
    notFoundFirst: SandboxesService,
  })
  update(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() patch: UpdateSandboxDto,
    @Conditions() conditions: Preconditions,
  ) {
    return this.sandboxes.update(who, id, patch, conditions);
  }

  @Route({
    method: 'DELETE',
    path: '/sandboxes/:id',
    scope: 'operator',
    tag: 'Sandboxes',
    operationId: 'deleteSandbox',
    summary: 'Delete a sandbox',
    description:
      'Deletes the sandbox and its files. Sends nothing to an external sandbox, and keeps the reference to it: revoke that separately. Files that were not sent yet are not sent any more.',
    ok: { 200: DeletedSandboxDto },
    errors: ['sandbox_not_found'],
    conditional: true,
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Conditions() conditions: Preconditions) {
    return this.sandboxes.delete(who, id, conditions);
  }
}
