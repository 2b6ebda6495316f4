import { Global, Module } from '@nestjs/common';
import { PRODUCTS } from '@slipway/ports/model-api-administration';
import { BindingsController } from './bindings.controller.js';
import { BindingsService } from './bindings.service.js';
import { allowedOrigins, CONFIG, type Config } from '@slipway/platform-config';
import { Egress } from '@slipway/platform-egress';
import { ProductsController } from './products.controller.js';
import { ProductsService } from './products.service.js';
import { PublicationsController } from './publications.controller.js';
import { PublicationsService } from './publications.service.js';
import { QualifiedTarget } from './qualified-target.js';
import { QualifyTargetBindingOperation } from './qualify-target-binding.operation.js';

/** Suppliers are called where the operator's targets allow, and nowhere else. */
const egress = {
  provide: Egress,
  inject: [CONFIG],
  useFactory: ({ operator }: Pick<Config, 'operator'>) => new Egress(allowedOrigins(operator), { connections: 8 }),
};

@Global()
@Module({
  controllers: [ProductsController, BindingsController, PublicationsController],
  providers: [
    egress,
    ProductsService,
    { provide: PRODUCTS, useExisting: ProductsService },
    BindingsService,
    PublicationsService,
    QualifiedTarget,
    QualifyTargetBindingOperation,
  ],
  exports: [PRODUCTS],
})
export class ModelApiAdministrationModule {}
