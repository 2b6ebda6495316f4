import { Body, Controller } from '@nestjs/common';
import { CurrentPrincipal, Page, Route, type PageRequest, type Principal } from '@slipway/platform-http';
import { CreateProductDto, ProductDto, ProductPageDto } from './product.dto.js';
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
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest) {
    return this.products.list(who, page);
  }
}
