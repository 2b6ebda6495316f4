import { Module } from '@nestjs/common';
import { HttpMetrics } from './http-metrics.js';
import { MetricsListener } from './metrics-listener.js';
import { SystemController } from './system.controller.js';
import { SystemService } from './system.service.js';
import { SystemStandingService } from './system-status.service.js';
import { WorkerBeats } from './worker-beats.js';

@Module({
  controllers: [SystemController],
  providers: [SystemService, SystemStandingService, WorkerBeats, HttpMetrics, MetricsListener],
})
export class SystemModule {}
