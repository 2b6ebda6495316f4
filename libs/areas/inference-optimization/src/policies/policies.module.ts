import { Global, Module } from '@nestjs/common';
import { POLICIES } from '@slipway/ports/policies';
import { PoliciesController } from './policies.controller.js';
import { PoliciesService } from './policies.service.js';
import { PolicyStore } from './policy.store.js';

/** Global, because the autopilot reads policies through the port. */
@Global()
@Module({
  controllers: [PoliciesController],
  providers: [PolicyStore, { provide: POLICIES, useExisting: PolicyStore }, PoliciesService],
  exports: [POLICIES],
})
export class PoliciesModule {}
