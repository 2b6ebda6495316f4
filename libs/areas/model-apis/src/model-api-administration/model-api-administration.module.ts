import { Global, Module } from '@nestjs/common';
import { PRODUCTS } from '@slipway/ports/model-api-administration';
import { BindingsController } from './bindings.controller.js';
import { BindingsService } from './bindings.service.js';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Egress } from '@slipway/platform-egress';
import { ProductsController } from './products.controller.js';
import { ProductsService } from './products.service.js';
import { PublicationsController } from './publications.controller.js';
import { PublicationsService } from './publications.service.js';
import { CALL_IDLE_TIMEOUT, QualificationCalls } from './qualification-calls.js';
import { QualifiedTarget } from './qualified-target.js';
import { QualifyTargetBindingOperation } from './qualify-target-binding.operation.js';
import { RefusedBindings } from './refused-bindings.js';
import { CALL_IDLE_TIMEOUT_MS } from '@slipway/target-driver/qualification';

/** Suppliers are called only at addresses that the operator allows (`outbound.suppliers`). */
const egress = {
  provide: Egress,
  inject: [CONFIG, { token: CALL_IDLE_TIMEOUT, optional: true }],
  useFactory: (
    { operator, ownPorts, outboundProxy: proxy }: Pick<Config, 'operator' | 'ownPorts' | 'outboundProxy'>,
    idleTimeoutMs = CALL_IDLE_TIMEOUT_MS,
  ) =>
    new Egress(() => operator.outbound?.suppliers ?? [], {
      headersTimeout: idleTimeoutMs,
      bodyTimeout: idleTimeoutMs,
      ownPorts,
      proxy,
    }),
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
    QualificationCalls,
    QualifiedTarget,
    QualifyTargetBindingOperation,
    RefusedBindings,
  ],
  exports: [PRODUCTS],
})
export class ModelApiAdministrationModule {}
