import { Global, Module } from '@nestjs/common';
import { PLANS } from '@slipway/ports';
import { DecisionsService } from './decisions.service.js';
import { PlanAuthor } from './plan-author.js';
import { PlanStore } from './plan.store.js';
import { PlansController } from './plans.controller.js';
import { PlansService } from './plans.service.js';

@Global()
@Module({
  controllers: [PlansController],
  providers: [PlanStore, { provide: PLANS, useExisting: PlanStore }, PlanAuthor, PlansService, DecisionsService],
  exports: [PLANS],
})
export class AutopilotModule {}
