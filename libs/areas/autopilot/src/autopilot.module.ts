import { Module } from '@nestjs/common';
import { Advisor } from './rounds/advisor.js';
import { AutopilotController } from './autopilot.controller.js';
import { AutopilotRound } from './rounds/autopilot-round.js';
import { OwnPlans } from './own-plans.js';
import { PlanAuthor } from './plans/plan-author.js';
import { PolicyWatch } from './policy-watch.js';
import { ProposalsService } from './proposals.service.js';
import { ScheduleStore } from './rounds/schedule.store.js';

/** People propose over HTTP; in a worker the rounds of the autopilot propose by themselves. Nothing here moves anything. */
@Module({
  controllers: [AutopilotController],
  providers: [ScheduleStore, PolicyWatch, PlanAuthor, ProposalsService, OwnPlans, Advisor, AutopilotRound],
})
export class AutopilotModule {}
