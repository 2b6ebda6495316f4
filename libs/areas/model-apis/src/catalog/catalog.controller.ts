import { Controller, Param } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { CatalogEntryDto, CatalogPageDto } from './catalog.dto.js';
import { CatalogService } from './catalog.service.js';

@Controller()
export class CatalogController {
  constructor(private readonly catalog: CatalogService) {}

  @Route({
    method: 'GET',
    path: '/model-api-catalog',
    scope: 'viewer',
    tag: 'Model APIs',
    operationId: 'listModelApiCatalog',
    summary: 'List managed model APIs',
    description: 'Returns the model APIs that are published for the tenant of the caller, ordered by slug.',
    ok: { 200: CatalogPageDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest) {
    return this.catalog.list(who, page);
  }

  @Route({
    method: 'GET',
    path: '/model-api-catalog/:id',
    scope: 'viewer',
    tag: 'Model APIs',
    operationId: 'getModelApiCatalogEntry',
    summary: 'Inspect a model API',
    description: 'Finds a model API by id, or by slug with `%2F` for the slash. Never discloses its supplier.',
    ok: { 200: CatalogEntryDto },
    errors: ['catalog_entry_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.catalog.get(who, id);
  }
}
