import { Module } from '@nestjs/common';
import { Advisor, OwnPlans } from './rounds/advisor.js';
import { AutopilotController } from './autopilot.controller.js';
import { AutopilotRound, PolicyWatch } from './rounds/autopilot-round.js';
import { PlanAuthor } from './plans/plan-author.js';
import { ProposalsService } from './proposals.service.js';
import { ScheduleStore } from './rounds/schedule.store.js';

/**
 * People propose over HTTP; in a worker the rounds of the autopilot propose by themselves. No code here starts a
 * rollout.
 */
@Module({
  controllers: [AutopilotController],
  providers: [ScheduleStore, PolicyWatch, PlanAuthor, ProposalsService, OwnPlans, Advisor, AutopilotRound],
})
export class AutopilotModule {}
