import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import {
  ConsoleAccessDto,
  ConsoleAccessListDto,
  DeletedConsoleAccessDto,
  SetConsoleAccessDto,
  ConsoleAccessFilterDto,
} from './console-access.dto.js';
import { ConsoleAccessService } from './console-access.service.js';

@Controller()
export class ConsoleAccessController {
  constructor(private readonly access: ConsoleAccessService) {}

  @Route({
    method: 'PUT',
    path: '/console/access',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'setConsoleAccess',
    summary: 'Grant or revoke console access',
    description:
      'Maps a hosted identity to the tenant. Provider, organization and user identify the mapping, so repeating a request changes nothing. Users can get access if the operator assigned their organization to the tenant; unassigned organizations belong to the operator tenant. A revocation applies from the next request of the identity and also ends its open event streams. An identity that is mapped in several tenants must name one, by id or name, in the header `X-Slipway-Tenant`.',
    example: {
      provider: 'oidc',
      external_organization_id: 'org1',
      external_user_id: 'user1',
      display_name: 'Ada',
      access: true,
      scopes: ['viewer'],
    },
    ok: { 200: ConsoleAccessDto },
    errors: ['organization_not_granted', 'last_admin'],
  })
  set(@CurrentPrincipal() who: Principal, @Body() dto: SetConsoleAccessDto): Promise<ConsoleAccessDto> {
    return this.access.set(who, dto);
  }

  @Route({
    method: 'GET',
    path: '/console/access',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'listConsoleAccess',
    summary: 'List mapped identities, newest first',
    description: 'Returns granted and revoked identities with their scopes.',
    ok: { 200: ConsoleAccessListDto },
    paged: true,
    byTime: true,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Query() filter: ConsoleAccessFilterDto,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<ConsoleAccessDto>> {
    return this.access.list(who, filter, page);
  }

  @Route({
    method: 'DELETE',
    path: '/console/access/:id',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'deleteConsoleAccess',
    summary: 'Delete a revoked mapping',
    description:
      'Deletes a mapping whose access is revoked, so that it no longer counts in the quota `console_access`. The tenant then does not know the identity: its requests get 401 instead of 403, and it no longer has to name this tenant among others. An active mapping is refused.',
    ok: { 200: DeletedConsoleAccessDto },
    errors: ['console_access_not_found', 'console_access_active'],
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string): Promise<DeletedConsoleAccessDto> {
    return this.access.delete(who, id);
  }
}
