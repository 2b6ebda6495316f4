import { Global, Module } from '@nestjs/common';
import { AUTOPILOT, PLANS } from '@slipway/ports';
import { Advisor } from './advisor.js';
import { AutopilotRound } from './autopilot-round.js';
import { DecisionsService } from './decisions.service.js';
import { OwnPlans } from './own-plans.js';
import { PlanAuthor } from './plan-author.js';
import { PlanExpiry } from './plan-expiry.js';
import { PlanStore } from './plan.store.js';
import { PlansController } from './plans.controller.js';
import { PlansService } from './plans.service.js';
import { ScheduleStore } from './schedule.store.js';

/** Global, because rollouts ask for plans and policies say what to look at. The round and the expiry run where a worker sweeps. */
@Global()
@Module({
  controllers: [PlansController],
  providers: [
    PlanStore,
    { provide: PLANS, useExisting: PlanStore },
    ScheduleStore,
    { provide: AUTOPILOT, useExisting: ScheduleStore },
    PlanAuthor,
    PlansService,
    DecisionsService,
    OwnPlans,
    Advisor,
    AutopilotRound,
    PlanExpiry,
  ],
  exports: [PLANS, AUTOPILOT],
})
export class AutopilotModule {}
