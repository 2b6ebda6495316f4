import { Module } from '@nestjs/common';
import { HttpMetrics, MetricsListener } from './metrics.js';
import { StoredMetrics } from './stored-metrics.js';
import { SystemController } from './system.controller.js';
import { SystemService } from './system.service.js';
import { SystemStatusService, WorkerBeats } from './system-status.service.js';

@Module({
  controllers: [SystemController],
  providers: [SystemService, SystemStatusService, WorkerBeats, HttpMetrics, MetricsListener, StoredMetrics],
})
export class SystemModule {}
