import { Body, Controller } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { ConsoleAccessDto, ConsoleAccessListDto, SetConsoleAccessDto } from './console-access.dto.js';
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
    summary: 'Map a hosted identity and grant or revoke private-console access',
    description:
      'Provider, organization and user name the mapping, so repeating a request changes nothing. Access is granted to users of the organizations that the operator gave to the tenant; the operator tenant has those that nobody has. A revocation holds at the next request of the identity, open event streams included. An identity that several tenants know names one, by id or name, in the header `X-Slipway-Tenant`.',
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
    description: 'Granted and revoked ones, each with the scopes it has.',
    ok: { 200: ConsoleAccessListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest): Promise<PageOf<ConsoleAccessDto>> {
    return this.access.list(who, page);
  }
}
