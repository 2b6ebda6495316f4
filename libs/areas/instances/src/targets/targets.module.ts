import { Module } from '@nestjs/common';
import { TargetCatalogModule } from '../catalog/target-catalog.module.js';
import { TargetDevices } from './target-devices.js';
import { TargetsController } from './targets.controller.js';
import { TargetsService } from './targets.service.js';

/** `GET /targets`. */
@Module({
  imports: [TargetCatalogModule],
  controllers: [TargetsController],
  providers: [TargetDevices, TargetsService],
})
export class TargetsModule {}
