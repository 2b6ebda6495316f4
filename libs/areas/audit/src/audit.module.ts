import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { AuditSealer } from './audit-sealer.js';
import { AuditService } from './audit.service.js';

@Module({ controllers: [AuditController], providers: [AuditService, AuditSealer] })
export class AuditModule {}
