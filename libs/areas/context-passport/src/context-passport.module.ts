import { Module } from '@nestjs/common';
import { PassportBounds } from './passport-bounds.js';
import { PassportsController } from './passports.controller.js';
import { PassportsService } from './passports.service.js';

@Module({ controllers: [PassportsController], providers: [PassportsService, PassportBounds] })
export class ContextPassportModule {}
