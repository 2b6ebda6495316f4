import { Global, Module } from '@nestjs/common';
import { PRODUCTS, REVISION_PINS } from '@slipway/ports';
import { BindingsController } from './bindings.controller.js';
import { BindingsService } from './bindings.service.js';
import { Egress } from './egress.js';
import { ProductsController } from './products.controller.js';
import { ProductsService } from './products.service.js';
import { PublicationsController } from './publications.controller.js';
import { PublicationsService } from './publications.service.js';
import { QualifiedTarget } from './qualified-target.js';
import { QualifyTargetBindingOperation } from './qualify-target-binding.operation.js';
import { RevisionPins } from './revision-pins.js';

@Global()
@Module({
  controllers: [ProductsController, BindingsController, PublicationsController],
  providers: [
    Egress,
    ProductsService,
    { provide: PRODUCTS, useExisting: ProductsService },
    BindingsService,
    PublicationsService,
    QualifiedTarget,
    QualifyTargetBindingOperation,
    { provide: REVISION_PINS, useClass: RevisionPins },
  ],
  exports: [PRODUCTS, REVISION_PINS],
})
export class ModelApiAdministrationModule {}
