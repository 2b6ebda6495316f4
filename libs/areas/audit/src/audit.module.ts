import { Module } from '@nestjs/common';
// Makes the entity known to TypeORM. Only statements use it.
import './audit-anchor.entity.js';
import { AuditController } from './audit.controller.js';
import { AuditAnchoring } from './audit-anchoring.js';
import { AuditSealer } from './audit-sealer.js';
import { AuditService } from './audit.service.js';

@Module({ controllers: [AuditController], providers: [AuditService, AuditSealer, AuditAnchoring] })
export class AuditModule {}
