import { Module } from '@nestjs/common';
import { Advisor, OwnPlans, Situations } from './rounds/advisor.js';
import { AutopilotController } from './autopilot.controller.js';
import { AutopilotRound, PolicyWatch } from './rounds/autopilot-round.js';
import { PlanAuthor } from './plans/plan-author.js';
import { DiagnosisController } from './diagnosis/diagnosis.controller.js';
import { DiagnosisService } from './diagnosis/diagnosis.service.js';
import { CalibrationController } from './calibration/calibration.controller.js';
import { CalibrationService } from './calibration/calibration.service.js';
import { ExecutionWatch, OutcomeRecorder } from './learning/outcome-recorder.js';
import { RecordsReader } from './rounds/records-reader.js';
import { ProposalsService } from './proposals.service.js';
import { ScheduleStore } from './rounds/schedule.store.js';

/**
 * People propose over HTTP and read diagnoses; in a worker the rounds of the autopilot propose by themselves. No code
 * here starts a rollout.
 */
@Module({
  controllers: [AutopilotController, DiagnosisController, CalibrationController],
  providers: [
    ScheduleStore,
    PolicyWatch,
    PlanAuthor,
    ProposalsService,
    RecordsReader,
    OwnPlans,
    Situations,
    Advisor,
    AutopilotRound,
    DiagnosisService,
    OutcomeRecorder,
    ExecutionWatch,
    CalibrationService,
  ],
})
export class AutopilotModule {}
