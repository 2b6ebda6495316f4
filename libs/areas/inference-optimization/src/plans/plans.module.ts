import { Global, Module } from '@nestjs/common';
import { PLAN_OUTCOMES, PLANS } from '@slipway/ports/plans';
import { DecisionsService, PlanExpiry } from './decisions.service.js';
import { OutcomeStore } from './outcome.store.js';
import { PlanStore } from './plan.store.js';
import { PlansController } from './plans.controller.js';
import { PlansService } from './plans.service.js';

/** Global, because rollouts check whether a plan may be executed, and the autopilot writes plans. */
@Global()
@Module({
  controllers: [PlansController],
  providers: [
    PlanStore,
    { provide: PLANS, useExisting: PlanStore },
    { provide: PLAN_OUTCOMES, useClass: OutcomeStore },
    PlansService,
    DecisionsService,
    PlanExpiry,
  ],
  exports: [PLANS, PLAN_OUTCOMES],
})
export class PlansModule {}
