import { Body, Controller, Param, Query } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { OperationEnvelopeDto } from '@slipway/platform-durable/operations';
import { BindingDto, BindingPageDto, CreateBindingDto, DeletedBindingDto, BindingFilterDto } from './binding.dto.js';
import { BindingsService } from './bindings.service.js';

@Controller()
export class BindingsController {
  constructor(private readonly bindings: BindingsService) {}

  @Route({
    method: 'POST',
    path: '/admin/model-api/target-bindings',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'createTargetBinding',
    summary: 'Create a target binding',
    description:
      'Binds a product to a revision or to the model of a supplier. A binding never changes. It serves requests after it is qualified and published.',
    example: {
      product_id: 'prd_0190f5c27bd87cc0a6b7d2f5e1a3c4d5',
      target: { deployment: 'chat', revision: 'chat-00001' },
    },
    ok: { 201: BindingDto },
    errors: ['product_not_found', 'deployment_not_found', 'revision_not_found', 'binding_exists'],
    // The contract lists it among the operations that accept no key.
    idempotent: false,
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreateBindingDto) {
    return this.bindings.create(who, body);
  }

  @Route({
    method: 'GET',
    path: '/admin/model-api/target-bindings',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'listTargetBindings',
    summary: 'List target bindings, newest first',
    description: 'Returns bindings with the results of their last qualification. Credentials are never shown.',
    ok: { 200: BindingPageDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: BindingFilterDto, @Page('string') page: PageRequest) {
    return this.bindings.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/admin/model-api/target-bindings/:id',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'getTargetBinding',
    summary: 'Inspect a target binding',
    description: 'Returns the binding with the results of its last qualification. The credential is never shown.',
    ok: { 200: BindingDto },
    errors: ['target_binding_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.bindings.get(who.tenantId, id);
  }

  @Route({
    method: 'POST',
    path: '/admin/model-api/target-bindings/:id/qualify',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'qualifyTargetBinding',
    summary: 'Qualify a target binding',
    description:
      'Starts an operation that calls the target. It lists the models and requests a completion, a streamed completion and a completion of an unknown model.',
    ok: { 202: OperationEnvelopeDto, 200: OperationEnvelopeDto },
    errors: ['target_binding_not_found', 'operation_in_progress'],
    notFoundFirst: BindingsService,
  })
  qualify(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.bindings.qualify(who, id);
  }

  @Route({
    method: 'DELETE',
    path: '/admin/model-api/target-bindings/:id',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'deleteTargetBinding',
    summary: 'Delete a target binding',
    description:
      'Deletes the binding with its credential, and no longer keeps its revision. A binding of the current publication is refused, and the response names the publication. Ended publications still show its id.',
    ok: { 200: DeletedBindingDto },
    errors: ['target_binding_not_found', 'target_binding_in_use', 'operation_in_progress'],
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.bindings.delete(who, id);
  }
}
