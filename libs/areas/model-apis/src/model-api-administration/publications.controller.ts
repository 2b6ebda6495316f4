import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  Page,
  RehearsalDto,
  Route,
  ValidateOnly,
  type PageRequest,
  type Principal,
} from '@slipway/platform-http';
import { CreatePublicationDto, PublicationDto, PublicationPageDto, PublicationFilterDto } from './publication.dto.js';
import { PublicationsService } from './publications.service.js';

@Controller()
export class PublicationsController {
  constructor(private readonly publications: PublicationsService) {}

  @Route({
    method: 'POST',
    path: '/admin/model-api/publications',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'createModelApiPublication',
    summary: 'Publish a model API product',
    description:
      'Replaces the current publication of the product with a new version, in one step. All bindings must be qualified. Only the operator tenant can publish to other tenants.',
    example: {
      product_id: 'prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5',
      bindings: [{ binding_id: 'bnd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5', weight: 100, priority: 1 }],
    },
    ok: { 201: PublicationDto, 200: RehearsalDto },
    errors: ['product_not_found', 'slug_not_yours', 'audience_not_yours', 'binding_not_qualified'],
    // The contract lists it among the operations that accept no key.
    idempotent: false,
    dryRun: true,
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreatePublicationDto, @ValidateOnly() isDryRun: boolean) {
    return this.publications.create(who, body, isDryRun);
  }

  @Route({
    method: 'GET',
    path: '/admin/model-api/publications',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'listModelApiPublications',
    summary: 'List publications, newest first',
    description: 'Returns every version of every product: published, superseded and withdrawn.',
    ok: { 200: PublicationPageDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: PublicationFilterDto, @Page('string') page: PageRequest) {
    return this.publications.list(who, filter, page);
  }

  @Route({
    method: 'POST',
    path: '/admin/model-api/publications/:id/withdraw',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'withdrawModelApiPublication',
    summary: 'Withdraw a publication',
    description: 'The slug is no longer served. Withdrawing a publication again returns the same response.',
    ok: { 200: PublicationDto },
    errors: ['publication_not_found', 'publication_superseded'],
    notFoundFirst: PublicationsService,
  })
  withdraw(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.publications.withdraw(who, id);
  }
}
