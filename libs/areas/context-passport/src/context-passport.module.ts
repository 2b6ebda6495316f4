import { Module } from '@nestjs/common';
import { PassportsController } from './passports.controller.js';
import { PassportsService } from './passports.service.js';

@Module({ controllers: [PassportsController], providers: [PassportsService] })
export class ContextPassportModule {}
