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
  CreateProductDto,
  DeletedProductDto,
  ProductDto,
  ProductPageDto,
  UpdateProductDto,
  ProductFilterDto,
} from './product.dto.js';
import { ProductsService } from './products.service.js';

@Controller()
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  @Route({
    method: 'POST',
    path: '/admin/model-api/products',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'createModelApiProduct',
    summary: 'Create a model API product',
    description:
      'The product is a draft until a publication defines the bindings that serve it. The slug must begin with the name of the tenant; the operator tenant can use any slug.',
    example: { slug: 'acme/chat', display_name: 'Acme Chat' },
    ok: { 201: ProductDto },
    errors: ['slug_not_yours', 'product_exists'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreateProductDto) {
    return this.products.create(who, body);
  }

  @Route({
    method: 'GET',
    path: '/admin/model-api/products',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'listModelApiProducts',
    summary: 'List model API products',
    description:
      'Returns products, newest first, including drafts and products that are no longer served. Clients use the catalog instead, which shows the products that are published for them.',
    ok: { 200: ProductPageDto },
    paged: true,
    byTime: true,
  })
  list(@CurrentPrincipal() who: Principal, @Query() filter: ProductFilterDto, @Page('string') page: PageRequest) {
    return this.products.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/admin/model-api/products/:id',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'getModelApiProduct',
    summary: 'Inspect a model API product',
    description: 'Returns the product, also if it is a draft. Send its `etag` as `If-Match` with a change.',
    ok: { 200: ProductDto },
    errors: ['product_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string) {
    return this.products.show(who, id);
  }

  @Route({
    method: 'PATCH',
    path: '/admin/model-api/products/:id',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'updateModelApiProduct',
    summary: 'Change a model API product',
    description:
      'Applies a JSON merge patch (RFC 7386): fields in the patch change, and `null` removes a field or resets it to its default. The slug cannot change. The catalog shows the new values at once. Bindings keep their qualification: qualify them again after a change of `context_length`.',
    example: { display_name: 'Acme Chat', pricing: { currency: 'USD', input_per_mtok: 0.1, output_per_mtok: 0.4 } },
    ok: { 200: ProductDto },
    errors: ['product_not_found'],
    conditional: true,
    notFoundFirst: ProductsService,
  })
  update(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() patch: UpdateProductDto,
    @Conditions() conditions: Preconditions,
  ) {
    return this.products.update(who, id, patch, conditions);
  }

  @Route({
    method: 'DELETE',
    path: '/admin/model-api/products/:id',
    scope: 'admin',
    tag: 'Model API administration',
    operationId: 'deleteModelApiProduct',
    summary: 'Delete a model API product',
    description:
      'Deletes the product and its ended publications, and frees the slug. A product that is published or has bindings is refused, and the response names them.',
    ok: { 200: DeletedProductDto },
    errors: ['product_not_found', 'product_in_use'],
    conditional: true,
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Conditions() conditions: Preconditions) {
    return this.products.delete(who, id, conditions);
  }
}
