import { Body, Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageOf, type PageRequest, type Principal } from '@slipway/platform-http';
import { CreatedTenantDto, CreateTenantDto, TenantDto, TenantListDto, UpdateTenantDto } from './tenant.dto.js';
import { TenantsService } from './tenants.service.js';

@Controller()
export class TenantsController {
  constructor(private readonly tenants: TenantsService) {}

  @Route({
    method: 'POST',
    path: '/tenants',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'createTenant',
    summary: 'Create a tenant',
    description:
      'Returns the tenant and its first admin token, which is shown once. Requires an admin of the operator tenant.',
    example: { name: 'acme' },
    ok: { 201: CreatedTenantDto },
    errors: ['tenant_exists'],
    secrets: ['token'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() dto: CreateTenantDto): Promise<CreatedTenantDto> {
    return this.tenants.create(who, dto);
  }

  @Route({
    method: 'PATCH',
    path: '/tenants/:id',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'updateTenant',
    summary: 'Update a tenant',
    description:
      'Changes the organizations whose users can get access. Accepts a JSON merge patch: given fields replace the current values. Requires an admin of the operator tenant.',
    example: { external_organization_ids: ['org1'] },
    ok: { 200: TenantDto },
    errors: ['tenant_not_found'],
    notFoundFirst: TenantsService,
  })
  update(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() dto: UpdateTenantDto,
  ): Promise<TenantDto> {
    return this.tenants.update(who, id, dto);
  }

  @Route({
    method: 'GET',
    path: '/tenants',
    scope: 'admin',
    tag: 'Identity',
    operationId: 'listTenants',
    summary: 'List tenants, oldest first',
    description: 'Requires an admin of the operator tenant.',
    ok: { 200: TenantListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest): Promise<PageOf<TenantDto>> {
    return this.tenants.list(who, page);
  }
}
