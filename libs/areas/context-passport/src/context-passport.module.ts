import { Module } from '@nestjs/common';
import { PassportBounds, PassportsService } from './passports.service.js';
import { PassportsController } from './passports.controller.js';

@Module({ controllers: [PassportsController], providers: [PassportsService, PassportBounds] })
export class ContextPassportModule {}
