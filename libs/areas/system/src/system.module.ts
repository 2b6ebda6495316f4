import { Module } from '@nestjs/common';
import { HttpMetrics } from './http-metrics.js';
import { MetricsListener } from './metrics-listener.js';
import { SystemController } from './system.controller.js';
import { SystemService } from './system.service.js';

@Module({ controllers: [SystemController], providers: [SystemService, HttpMetrics, MetricsListener] })
export class SystemModule {}
